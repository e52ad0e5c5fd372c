# tries: connect to a port on the host's loopback
# layer: net
# control: escapes
# blocked: ECONNREFUSED
import socket

attempt(lambda: socket.create_connection(("127.0.0.1", int("{{HOST_PORT}}")), 3).close() or "connected")
