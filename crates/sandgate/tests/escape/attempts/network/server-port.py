# tries: connect to the port of the server itself
# layer: net
# control: escapes
# blocked: ECONNREFUSED
import socket

attempt(lambda: socket.create_connection(("127.0.0.1", int("{{SERVER_PORT}}")), 3).close() or "connected")
