# tries: find a way to the internet (no packet is sent)
# layer: net
# control: escapes
# blocked: ENETUNREACH
import socket


def way():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 53))
        return "there is a way"


attempt(way)
