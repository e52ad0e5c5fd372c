-- Several upstreams: which of them keeps a response, and the model it was asked for by. Of older ones nobody knows.
ALTER TABLE passed_responses ADD COLUMN upstream TEXT;
ALTER TABLE passed_responses ADD COLUMN model TEXT;
