// The upstream of the relay benchmark: answers every request at once with the same small message,
// or, when the query says ?pace_us=N&events=M, with a stream of M deltas, one write each, N
// microseconds apart. A delta contains the time of its write, so that the reader can compute its
// delay. One thread, epoll, no copy of the request: it must never be the bottleneck.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// Request headers of agents have a few KB; longer ones are a mistake of the benchmark.
#define HEAD_MAX 16384

#define COMMON \
  "request-id: req_011CSHoEeqs5C35K2UUqR7Fy\r\n" \
  "anthropic-organization-id: 5b0dd5a2-2b9c-4d4b-a64c-2c3a8b7e2f10\r\n" \
  "anthropic-ratelimit-requests-limit: 4000\r\n" \
  "anthropic-ratelimit-requests-remaining: 3999\r\n" \
  "anthropic-ratelimit-input-tokens-limit: 2000000\r\n" \
  "anthropic-ratelimit-input-tokens-remaining: 1999000\r\n" \
  "strict-transport-security: max-age=31536000; includeSubDomains; preload\r\n" \
  "via: 1.1 edge\r\nserver: stub\r\n\r\n"

static const char MESSAGE[] =
  "{\"id\":\"msg_01XFDUDYJgAACzvnptvVoYEL\",\"type\":\"message\",\"role\":\"assistant\","
  "\"model\":\"model-large\",\"content\":[{\"type\":\"text\",\"text\":\"The toll was paid before "
  "the gate was opened, and the gate was opened before the cart had come to a stop; the keeper wrote "
  "down the hour, the number of the cart and what it carried, and by the evening the book and the "
  "box agreed to the last coin, as they had on every evening since the gate was built.\"}],"
  "\"stop_reason\":\"end_turn\",\"stop_sequence\":null,\"usage\":{\"input_tokens\":131,"
  "\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"cache_creation\":{"
  "\"ephemeral_5m_input_tokens\":0,\"ephemeral_1h_input_tokens\":0},\"output_tokens\":78,"
  "\"service_tier\":\"standard\"}}";

static const char STREAM_HEAD[] =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
  "cache-control: no-cache\r\ntransfer-encoding: chunked\r\n" COMMON;

static const char OPENING[] =
  "event: message_start\n"
  "data: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_01XFDUDYJgAACzvnptvVoYEL\","
  "\"type\":\"message\",\"role\":\"assistant\",\"model\":\"model-large\",\"content\":[],"
  "\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":131,"
  "\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n\n"
  "event: content_block_start\n"
  "data: {\"type\":\"content_block_start\",\"index\":0,"
  "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";

static const char CLOSING[] =
  "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
  "event: message_delta\n"
  "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\","
  "\"stop_sequence\":null},\"usage\":{\"output_tokens\":101}}\n\n"
  "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

typedef struct Connection {
  int fd;
  bool is_gone, is_waiting;
  size_t head_bytes, body_left;
  int events_left;
  uint64_t pace_ns, due_ns;
  struct Connection *next;
  char *head;
} Connection;

// Connections by the time of their next event. The queue needs no sorting, because all streams of
// a run have the same pace.
static struct { Connection *first, *last; } queue;
static char answer[8192], opening[4096], closing[2048], scratch[1 << 18];
static size_t answer_bytes, opening_bytes, closing_bytes;
static int poller;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void drop(Connection *c) {
  close(c->fd);
  free(c->head);
  c->head = NULL;
  c->is_gone = true;
  if (!c->is_waiting) free(c);
}

static void enqueue(Connection *c, uint64_t now) {
  c->due_ns = now + c->pace_ns;
  c->is_waiting = true;
  c->next = NULL;
  if (queue.last != NULL) queue.last->next = c;
  else queue.first = c;
  queue.last = c;
}

// False when the connection must be closed. Replies are far smaller than a socket's buffer, so
// a partial write means that the reader has stopped for good.
static bool send_all(Connection *c, const char *bytes, size_t count) {
  return write(c->fd, bytes, count) == (ssize_t)count;
}

static bool send_event(Connection *c, uint64_t now) {
  char text[256], frame[300];
  if (c->events_left == 0) return send_all(c, closing, closing_bytes);
  int count = snprintf(text, sizeof text,
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
    "\"delta\":{\"type\":\"text_delta\",\"text\":\" word @%016llx@\"}}\n\n",
    (unsigned long long)now);
  int total = snprintf(frame, sizeof frame, "%x\r\n%s\r\n", count, text);
  return send_all(c, frame, (size_t)total);
}

static void tick(void) {
  for (;;) {
    Connection *c = queue.first;
    uint64_t now = now_ns();
    if (c == NULL || c->due_ns > now) return;
    queue.first = c->next;
    if (queue.first == NULL) queue.last = NULL;
    c->is_waiting = false;
    if (c->is_gone) {
      free(c);
      continue;
    }
    bool was_last = c->events_left == 0;
    if (!send_event(c, now)) drop(c);
    else if (!was_last) {
      c->events_left -= 1;
      enqueue(c, now);
    }
  }
}

static unsigned long number_after(const char *text, const char *name, unsigned long otherwise) {
  const char *found = strcasestr(text, name);
  return found == NULL ? otherwise : strtoul(found + strlen(name), NULL, 10);
}

// c->head contains the complete request headers, ended by a NUL.
static bool take_head(Connection *c) {
  if (strcasestr(c->head, "\r\ntransfer-encoding:") != NULL) {
    fprintf(stderr, "stub: a request without content-length\n");
    return false;
  }
  c->body_left = number_after(c->head, "\r\ncontent-length:", 0);
  c->head[strcspn(c->head, "\r")] = '\0'; // the code below needs only the request line
  c->pace_ns = number_after(c->head, "pace_us=", 0) * 1000u;
  c->events_left = (int)number_after(c->head, "events=", 0);
  c->head_bytes = 0;
  return true;
}

static bool respond(Connection *c) {
  if (c->pace_ns == 0) return send_all(c, answer, answer_bytes);
  if (!send_all(c, opening, opening_bytes)) return false;
  enqueue(c, now_ns());
  return true;
}

// Stores the headers and only counts the bytes of the body.
static bool take(Connection *c, const char *bytes, size_t count) {
  while (count > 0) {
    if (c->body_left > 0) {
      size_t part = count < c->body_left ? count : c->body_left;
      c->body_left -= part;
      bytes += part;
      count -= part;
    } else {
      size_t room = HEAD_MAX - 1 - c->head_bytes;
      size_t part = count < room ? count : room;
      if (part == 0) return false;
      size_t from = c->head_bytes < 3 ? 0 : c->head_bytes - 3;
      memcpy(c->head + c->head_bytes, bytes, part);
      char *end = memmem(c->head + from, c->head_bytes + part - from, "\r\n\r\n", 4);
      if (end == NULL) {
        c->head_bytes += part;
        return true;
      }
      size_t used = (size_t)(end + 4 - c->head) - c->head_bytes;
      *end = '\0';
      bytes += used;
      count -= used;
      if (!take_head(c)) return false;
    }
    if (c->body_left == 0 && !respond(c)) return false;
  }
  return true;
}

static void accept_all(int listener) {
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    Connection *c = calloc(1, sizeof *c);
    c->fd = fd;
    c->head = malloc(HEAD_MAX);
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
  }
}

static void prepare(void) {
  answer_bytes = (size_t)snprintf(answer, sizeof answer,
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n" COMMON "%s",
    sizeof MESSAGE - 1, MESSAGE);
  opening_bytes = (size_t)snprintf(opening, sizeof opening, "%s%zx\r\n%s\r\n", STREAM_HEAD,
    sizeof OPENING - 1, OPENING);
  closing_bytes = (size_t)snprintf(closing, sizeof closing, "%zx\r\n%s\r\n0\r\n\r\n",
    sizeof CLOSING - 1, CLOSING);
}

static int listen_on(int port) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
      listen(listener, 4096) != 0) {
    perror("stub: listen");
    exit(1);
  }
  struct epoll_event event = { .events = EPOLLIN, .data.ptr = NULL };
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
  return listener;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL); // nothing outlives the benchmark
  signal(SIGPIPE, SIG_IGN);
  prepare();
  poller = epoll_create1(EPOLL_CLOEXEC);
  int listener = listen_on(atoi(argv[1]));
  printf("listening\n");
  fflush(stdout);
  for (;;) {
    struct timespec wait = { 1, 0 };
    if (queue.first != NULL) {
      uint64_t now = now_ns();
      uint64_t left = queue.first->due_ns > now ? queue.first->due_ns - now : 0;
      wait.tv_sec = (time_t)(left / 1000000000u);
      wait.tv_nsec = (long)(left % 1000000000u);
    }
    struct epoll_event events[256];
    int count = epoll_pwait2(poller, events, 256, &wait, NULL);
    for (int i = 0; i < count; i++) {
      Connection *c = events[i].data.ptr;
      if (c == NULL) {
        accept_all(listener);
        continue;
      }
      ssize_t got = read(c->fd, scratch, sizeof scratch);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (got <= 0 || !take(c, scratch, (size_t)got)) drop(c);
    }
    tick();
  }
}
