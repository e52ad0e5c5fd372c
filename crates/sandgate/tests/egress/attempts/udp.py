# tries: send a packet to a service at an address of the host's own
# control: blocked because packets go nowhere under any policy
# blocked: ENETUNREACH
def send():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.settimeout(PATIENCE)
        end.connect(("{{OWN}}", int("{{OWN_PORT}}")))
        end.send(b"x")
        return judged(end.recv(4096))


attempt(send)
