//! Daytona's protocol, as a client.
