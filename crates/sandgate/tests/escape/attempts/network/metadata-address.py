# tries: find a way to the address where clouds keep credentials (no packet is sent)
# layer: net
# control: escapes
# blocked: ENETUNREACH
import socket


def way():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("169.254.169.254", 80))
        return "there is a way"


attempt(way)
