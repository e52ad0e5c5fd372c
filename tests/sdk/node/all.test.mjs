// All tests of the Node client, in one process, so that they share one server.

import './responses.mjs';
import './containers.mjs';
import './errors.mjs';
import './agents.mjs';
