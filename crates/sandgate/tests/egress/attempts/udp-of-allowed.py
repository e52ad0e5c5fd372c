# tries: send a packet to an allowed host on the port of the web, as QUIC does
# control: blocked because packets go nowhere under any policy
# blocked: ECONNREFUSED
def send():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.settimeout(PATIENCE)
        end.connect((address_of("allowed.test"), 443))
        end.send(b"\xc0\0\0\0\1" + bytes(1200))
        return judged(end.recv(4096))


attempt(send)
