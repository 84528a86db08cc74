"""A server of model files on 127.0.0.1 that can be told to misbehave, and remembers what it was asked.

The first part of a path says how it answers (one method of Server, `way_NAME`); the rest names the file.
"""
import http.server
import re
import ssl
import threading
import time
import urllib.parse

CHUNK = 1 << 16


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 20

    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        parts = urllib.parse.unquote(url.path).lstrip("/").split("/", 1)
        self.seen = {"path": url.path, "query": url.query, "range": self.headers.get("Range"), "sent": 0,
                     "authorization": self.headers.get("Authorization"), "host": self.headers.get("Host"),
                     "accept_encoding": self.headers.get("Accept-Encoding"), "proxied": self.path.startswith("http")}
        self.server.seen.append(self.seen)
        way = getattr(self, "way_" + parts[0], None)
        try:
            if way:
                way(parts[1] if len(parts) > 1 else "")
            else:
                self.say(404)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    # ---- pieces ----

    def say(self, code, body=b"", **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        if "Content_Length" not in headers and "Transfer_Encoding" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.write(body)

    def write(self, body):
        for at in range(0, len(body), CHUNK):
            self.wfile.write(body[at:at + CHUNK])
            self.seen["sent"] += len(body[at:at + CHUNK])

    def asked(self, size):
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        return (int(match[1]), min(int(match[2]), size - 1)) if match else (0, size - 1)

    def piece(self, name, first, last):
        data, size = self.server.files[name]
        body = data[first:last + 1]
        return body + b"\0" * (min(last + 1, size) - first - len(body))

    def part(self, name, code=206, change=None, size=None, extra=b"", cut=0, **headers):
        """The range asked for; `change` turns its first and last byte into those announced."""
        real = self.server.files[name][1]
        first, last = self.asked(real)
        if first >= real:
            return self.say(416, Content_Range=f"bytes */{real}")
        body = self.piece(name, first, last)
        if change:
            first, last = change(first, last)
        length = len(body)
        self.say(code, body[:length - cut] + extra, Content_Range=f"bytes {first}-{last}/{size or real}",
                 Content_Length=length + len(extra), **headers)
        if cut:
            self.close_connection = True
        return None

    # ---- ways to answer ----

    def way_good(self, name):
        if name not in self.server.files:
            return self.say(404, b"no such file")
        return self.part(name, ETag='"1"')

    def way_whole(self, name, announce=True):
        """No ranges: the whole file, as long as anybody listens."""
        data, size = self.server.files[name]
        headers = {"Content_Length": size} if announce else {"Connection": "close", "Transfer_Encoding": "identity"}
        self.say(200, **headers)
        for at in range(0, size, CHUNK):
            self.write(self.piece(name, at, min(at + CHUNK, size) - 1))
        self.close_connection = True

    def way_endless(self, name):
        self.way_whole(name, announce=False)

    def way_code(self, name):
        """/code/503/Retry-After=7"""
        code, *headers = name.split("/")
        self.say(int(code), b"x" * 100, **dict(h.split("=") for h in headers))

    def way_to(self, name):
        """/to/302/<quoted URL>"""
        code, place = name.split("/", 1)
        self.say(int(code), b"elsewhere", Location=place)

    def way_nowhere(self, _):
        self.say(302)

    def way_loop(self, name):
        self.say(302, Location=f"/loop/{name}x")

    def way_once(self, name):
        """Redirects to a place that answers once and is then forbidden, as signed ones do."""
        place = f"/signed/{len(self.server.seen)}/{name}"
        self.say(302, Location=place)

    def way_signed(self, name):
        number, name = name.split("/", 1)
        if number in self.server.used:
            return self.say(403)
        self.server.used.add(number)
        return self.part(name)

    def way_shifted(self, name):
        self.part(name, change=lambda first, last: (first + 1, last + 1))

    def way_short(self, name):
        self.part(name, change=lambda first, last: (first, last - 100))

    def way_unsaid(self, name):
        self.say(206, self.piece(name, *self.asked(self.server.files[name][1])))

    def way_many(self, name):
        self.say(206, b"--x\r\n\r\n--x--\r\n", Content_Type="multipart/byteranges; boundary=x")

    def way_starred(self, name):
        self.part(name, size="*")

    def way_huge(self, name):
        self.part(name, size=1 << 70)

    def way_tiny(self, name):
        self.part(name, size=7)

    def way_cut(self, name):
        self.part(name, cut=1000)

    def way_more(self, name):
        self.part(name, extra=b"y" * 5000)

    def way_growing(self, name):
        self.part(name, size=self.server.files[name][1] + len(self.server.seen))

    def way_replaced(self, name):
        self.part(name, ETag=f'"{len(self.server.seen)}"')

    def way_packed(self, name):
        self.part(name, Content_Encoding="gzip")

    def way_sometimes(self, name):
        if self.asked(1 << 62)[0]:
            return self.way_whole(name)
        return self.part(name)

    def way_failing(self, name):
        if self.asked(1 << 62)[0]:
            return self.say(500)
        return self.part(name)

    def way_silent(self, _):
        time.sleep(8)
        self.close_connection = True

    def way_drip(self, name):
        self.say(206, Content_Range="bytes 0-524287/1000000000", Content_Length=524288)
        for byte in self.piece(name, 0, 30):
            self.write(bytes([byte]))
            time.sleep(0.3)
        self.close_connection = True

    def way_closed(self, _):
        self.close_connection = True

    def way_garbage(self, _):
        self.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
        self.close_connection = True

    def way_hub(self, name):
        """The two addresses of a hub that are used: a repository's list, and a file of it."""
        if name.startswith("api/models/"):
            repo = name[len("api/models/"):].removesuffix("/tree/main")
            if repo in self.server.listings:
                return self.say(200, self.server.listings[repo], Content_Type="application/json")
            return self.say(401, b'{"error":"Invalid username or password."}')
        return self.way_good(name.split("/resolve/main/", 1)[-1])


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, certificate=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.scheme = "https" if certificate else "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.files = {}     # name: (the first bytes, size); zeros follow
        self.listings = {}  # repository: JSON
        self.seen = []      # what was asked, in order
        self.used = set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass

    def end(self):
        self.shutdown()
        self.server_close()

    def url(self, way, name=""):
        return f"{self.scheme}://127.0.0.1:{self.server_port}/{way}/{urllib.parse.quote(name)}"
