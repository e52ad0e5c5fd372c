# tries: find a way to the internet over IPv6 (no packet is sent)
# layer: net
# control: escapes
# blocked: ENETUNREACH|EADDRNOTAVAIL
import socket


def way():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        probe.connect(("2001:db8::1", 53))
        return "there is a way"


attempt(way)
