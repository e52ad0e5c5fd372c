# tries: send a packet to a forbidden host
# control: blocked because packets go nowhere under any policy
# blocked: ENETUNREACH|ECONNREFUSED
def send():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.settimeout(5)
        end.connect((BAD, 9999))
        end.send(b"x")
        end.recv(10)
        return "answered"


attempt(send)
