//! What honest programs do with sockets inside a sandbox goes on working under the filter of sockets.

use crate::common::{run, sandbox};

#[test]
fn servers_and_clients_find_each_other_inside() {
    let code = r#"
import http.server, threading, urllib.request, requests
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'hello')
    def log_message(self, *args): pass
answers = []
for server_class, host in [(http.server.ThreadingHTTPServer, '127.0.0.1'), (http.server.HTTPServer, '127.0.0.1')]:
    server = server_class((host, 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f'http://{host}:{server.server_port}/'
    answers += [requests.get(url, timeout=10).text, urllib.request.urlopen(url, timeout=10).read().decode()]
    server.shutdown()
answers"#;
    run(async {
        let place = sandbox().await;
        assert_eq!(place.value(code).await, "['hello', 'hello', 'hello', 'hello']");
    });
}

#[test]
fn asyncio_talks_over_every_kind_of_socket() {
    let code = r#"
import asyncio, socket, os
async def echo(reader, writer):
    writer.write(await reader.read(100))
    await writer.drain()
    writer.close()
class Datagrams(asyncio.DatagramProtocol):
    def connection_made(self, transport): self.transport = transport
    def datagram_received(self, data, address): self.transport.sendto(data, address)
async def talk(connecting):
    reader, writer = await connecting
    writer.write(b'x')
    writer.write_eof()
    return (await reader.read()).decode()
async def main():
    loop = asyncio.get_running_loop()
    done = []
    tcp = await asyncio.start_server(echo, None, 0, reuse_port=True)
    for end in tcp.sockets:
        done.append(await talk(asyncio.open_connection(*end.getsockname()[:2])))
    unix = await asyncio.start_unix_server(echo, '/tmp/echo.sock')
    done.append(await talk(asyncio.open_unix_connection('/tmp/echo.sock')))
    transport, _ = await loop.create_datagram_endpoint(Datagrams, local_addr=('127.0.0.1', 0))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.setblocking(False)
        await loop.sock_sendto(end, b'y', transport.get_extra_info('sockname'))
        done.append((await loop.sock_recv(end, 10)).decode())
    process = await asyncio.create_subprocess_exec('echo', 'z', stdout=asyncio.subprocess.PIPE)
    done.append((await process.communicate())[0].decode().strip())
    return sorted(set(done))
await main()"#;
    run(async {
        let place = sandbox().await;
        assert_eq!(place.value(code).await, "['x', 'y', 'z']");
    });
}

#[test]
fn multiprocessing_passes_descriptors_and_shares_memory() {
    let code = r#"
import multiprocessing as mp, socket
from multiprocessing import reduction, managers
context = mp.get_context('fork')
with context.Pool(2) as pool:
    squares = pool.map(abs, [-1, -2, -3])
mine, yours = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
def child(end):
    with open('/mnt/data/passed', 'w') as file:
        file.write('from the child')
        file.flush()
        socket.send_fds(end, [b'fd'], [file.fileno()])
process = context.Process(target=child, args=(yours,))
process.start()
_, fds, _, _ = socket.recv_fds(mine, 10, 1)
process.join()
manager = context.Manager()
shared = manager.dict(a=1)
import os
squares, os.fstat(fds[0]).st_size, dict(shared), mine.family.name, mine.type.name"#;
    run(async {
        let place = sandbox().await;
        let expected = "([1, 2, 3], 14, {'a': 1}, 'AF_UNIX', 'SOCK_SEQPACKET')";
        assert_eq!(place.value(code).await, expected);
    });
}

#[test]
fn common_options_can_be_set_and_a_descriptor_says_what_it_is() {
    let code = r#"
import socket
end = socket.create_server(('127.0.0.1', 0), reuse_port=True)
for level, option, value in [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), (socket.SOL_SOCKET, socket.SO_RCVBUF, 65536),
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 5),
    (socket.IPPROTO_IP, socket.IP_TOS, 16),
]:
    end.setsockopt(level, option, value)
again = socket.socket(fileno=end.detach())
again.family.name, again.type.name, again.proto, len(again.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8))"#;
    run(async {
        let place = sandbox().await;
        assert_eq!(place.value(code).await, "('AF_INET', 'SOCK_STREAM', 6, 8)");
    });
}
