# tries: find a way to the host's private network (no packet is sent)
# layer: net
# control: escapes
# blocked: ENETUNREACH
import socket


def way():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("10.0.0.1", 443))
        return "there is a way"


attempt(way)
