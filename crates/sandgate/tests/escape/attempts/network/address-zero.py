# tries: connect to the host's loopback by the address of all zeros
# layer: net
# control: escapes
# blocked: ECONNREFUSED
import socket

attempt(lambda: socket.create_connection(("0.0.0.0", int("{{HOST_PORT}}")), 3).close() or "connected")
