# tries: find a way to the IPv6 address where clouds keep credentials (no packet is sent)
# layer: net
# control: escapes
# blocked: ENETUNREACH|EADDRNOTAVAIL
import socket


def way():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        probe.connect(("fd00:ec2::254", 80))
        return "there is a way"


attempt(way)
