// The load of the relay benchmark: one thread, epoll, prepared requests. `closed` keeps every
// connection busy; `open` sends at a fixed rate and counts the delay from the moment a request was
// due; `streams` keeps event streams open and reads the time that the stub wrote into each event.
// It reads the CPU time of the watched processes at both ends of the measured window itself, so
// that no other process has to wake up. Prints "begin", then one JSON object.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "relay-reply.h"

#define HEADS_MAX 65536
#define WATCHED_MAX 8
#define SAMPLES_MAX 20000000u
#define RELAY_CORE 0

typedef enum { OFF, IDLE, SENDING, READING } State;

typedef struct {
  Reply reply; // first, so that a reply's address is its connection's
  int fd;
  State state;
  bool has_begun;
  const struct iovec *request_head;
  size_t sent;
  uint64_t since_ns;
} Connection;

static struct {
  const char *mode;
  int port, connections, events;
  double rate, warm, seconds;
  const char *watch[WATCHED_MAX];
  int watched;
} options;

static struct iovec heads[HEADS_MAX], body;
static int head_count, head_next;
static Connection *all;
static int *idle, idle_count;
static int poller, begun;
static bool is_measuring;
static uint64_t received_ns, requests, errors, events_seen, sample_count;
static uint32_t *samples; // tenths of a microsecond
static char first_error[512], scratch[1 << 18];

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is(const char *mode) { return strcmp(options.mode, mode) == 0; }

static void sample(uint64_t from_ns, uint64_t to_ns) {
  if (!is_measuring || sample_count == SAMPLES_MAX) return;
  uint64_t tenths = to_ns > from_ns ? (to_ns - from_ns) / 100u : 0;
  samples[sample_count++] = tenths > UINT32_MAX ? UINT32_MAX : (uint32_t)tenths;
}

// Errors count from the first connection on, even before the measured window.
static void complain(const char *what, const char *bytes, size_t count) {
  errors += 1;
  if (first_error[0] != '\0') return;
  snprintf(first_error, sizeof first_error, "%s %.*s", what, (int)(count > 400 ? 400 : count),
    bytes);
}

static void on_stamp(Reply *reply, uint64_t written_ns) {
  Connection *c = (Connection *)reply;
  if (is_measuring) events_seen += 1;
  sample(written_ns, received_ns);
  if (!c->has_begun) begun += 1;
  c->has_begun = true;
}

static void want(Connection *c, uint32_t what, int verb) {
  struct epoll_event event = { .events = what, .data.ptr = c };
  epoll_ctl(poller, verb, c->fd, &event);
}

static void start(Connection *c, uint64_t since);

static void disconnect(Connection *c) {
  if (c->fd >= 0) close(c->fd);
  c->fd = -1;
  c->state = OFF;
}

static void fail(Connection *c, const char *what) {
  complain(what, c->reply.head, c->reply.head_bytes);
  disconnect(c);
  if (is("open")) idle[idle_count++] = (int)(c - all);
  else start(c, now_ns());
}

static bool connect_it(Connection *c) {
  c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (c->fd < 0) return false;
  int one = 1;
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)options.port) };
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int done = connect(c->fd, (struct sockaddr *)&address, sizeof address);
  if (done != 0 && errno != EINPROGRESS) return false;
  want(c, EPOLLIN | EPOLLOUT, EPOLL_CTL_ADD);
  return true;
}

static void send_more(Connection *c) {
  size_t total = c->request_head->iov_len + body.iov_len;
  while (c->sent < total) {
    struct iovec rest[2];
    int count = 0;
    size_t skip = c->sent;
    if (skip < c->request_head->iov_len) {
      rest[count].iov_base = (char *)c->request_head->iov_base + skip;
      rest[count++].iov_len = c->request_head->iov_len - skip;
      skip = 0;
    } else skip -= c->request_head->iov_len;
    if (body.iov_len > skip) {
      rest[count].iov_base = (char *)body.iov_base + skip;
      rest[count++].iov_len = body.iov_len - skip;
    }
    ssize_t wrote = writev(c->fd, rest, count);
    if (wrote < 0) {
      if (errno == EAGAIN || errno == ENOTCONN) return want(c, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
      return fail(c, strerror(errno));
    }
    c->sent += (size_t)wrote;
  }
  c->state = READING;
}

static void start(Connection *c, uint64_t since) {
  c->since_ns = since;
  c->sent = 0;
  reply_begin(&c->reply);
  c->request_head = &heads[head_next];
  head_next = (head_next + 1) % head_count;
  c->state = SENDING;
  if (c->fd < 0) {
    if (!connect_it(c)) {
      fprintf(stderr, "load: %s\n", strerror(errno));
      exit(1);
    }
    return; // sent when the connection is open
  }
  send_more(c);
}

static void finish(Connection *c) {
  bool is_stream = is("streams");
  if (is_stream && c->reply.stamps != options.events) complain("a stream ended early", "", 0);
  if (is_measuring) requests += 1;
  uint64_t now = now_ns();
  if (!is_stream) sample(c->since_ns, now);
  c->state = IDLE;
  if (c->reply.must_close) disconnect(c);
  if (is("open")) idle[idle_count++] = (int)(c - all);
  else start(c, now);
}

static void receive(Connection *c) {
  ssize_t got = read(c->fd, scratch, sizeof scratch);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0 || c->state != READING) {
    // A server may close an idle connection.
    if (got == 0 && c->state == IDLE) disconnect(c);
    else fail(c, got < 0 ? strerror(errno) : got == 0 ? "closed early" : "answered early");
    return;
  }
  received_ns = now_ns();
  for (size_t at = 0; at < (size_t)got;) {
    size_t used = reply_step(&c->reply, scratch + at, (size_t)got - at);
    if (used == 0) return fail(c, "answered");
    at += used;
    // The next request is not sent yet, so no bytes of its reply can be here.
    if (reply_is_complete(&c->reply)) return finish(c);
  }
}

static void handle(const struct epoll_event *event) {
  Connection *c = event->data.ptr;
  if (c->fd < 0) return;
  if (event->events & EPOLLOUT && c->state == SENDING) {
    want(c, EPOLLIN, EPOLL_CTL_MOD);
    send_more(c);
  } else if (event->events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(c);
}

static double cpu_us(const char *pids) {
  double ticks = 0;
  for (const char *p = pids; *p != '\0'; p += *p == ',') {
    char path[64], text[1024];
    long pid = strtol(p, (char **)&p, 10);
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int fd = open(path, O_RDONLY);
    if (fd < 0) continue;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got <= 0) continue;
    text[got] = '\0';
    unsigned long user = 0, system = 0;
    sscanf(strrchr(text, ')') + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
      &system);
    ticks += (double)(user + system);
  }
  return ticks * 1e6 / (double)sysconf(_SC_CLK_TCK);
}

// The busy time of the relay's core and of the other cores, for all processes together.
static void busy_us(double *relay_core, double *other_cores) {
  FILE *file = fopen("/proc/stat", "r");
  char line[512];
  *relay_core = *other_cores = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    int core;
    unsigned long user, nice, system, idle_ticks, wait, irq, soft, steal;
    int found = sscanf(line, "cpu%d %lu %lu %lu %lu %lu %lu %lu %lu", &core, &user, &nice, &system,
      &idle_ticks, &wait, &irq, &soft, &steal);
    if (found != 9 || line[3] == ' ') continue; // the first line is the sum of all
    double us = (double)(user + nice + system + irq + soft + steal) * 1e6 /
      (double)sysconf(_SC_CLK_TCK);
    if (core == RELAY_CORE) *relay_core += us;
    else *other_cores += us;
  }
  if (file != NULL) fclose(file);
}

static double own_us(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
    (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static int by_size(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static double quantile_us(double share) {
  if (sample_count == 0) return 0;
  uint64_t at = (uint64_t)((double)sample_count * share);
  return samples[at < sample_count ? at : sample_count - 1] / 10.0;
}

// Opens connections and sends open-loop requests that are due. Returns when the next one is due.
static uint64_t start_due(uint64_t begin, uint64_t now) {
  static uint64_t started;
  bool is_open = is("open");
  if (!is_open && started == (uint64_t)options.connections) return UINT64_MAX;
  for (;;) {
    uint64_t due = begin + (uint64_t)((double)started * 1e9 / options.rate);
    if (due > now) return due;
    if (is_open) {
      if (idle_count == 0) complain("no idle connection", "", 0);
      else start(&all[idle[--idle_count]], due);
    } else start(&all[started], now);
    started += 1;
    if (!is_open && started == (uint64_t)options.connections) return UINT64_MAX;
  }
}

static void run_until(uint64_t begin, uint64_t until) {
  for (;;) {
    uint64_t now = now_ns();
    if (now >= until) return;
    uint64_t next = start_due(begin, now);
    if (next > until) next = until;
    now = now_ns();
    uint64_t left = next > now ? next - now : 0;
    struct timespec wait = { (time_t)(left / 1000000000u), (long)(left % 1000000000u) };
    struct epoll_event events[256];
    int count = epoll_pwait2(poller, events, 256, &wait, NULL);
    for (int i = 0; i < count; i++) handle(&events[i]);
  }
}

static struct iovec read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  struct stat st;
  if (file == NULL || fstat(fileno(file), &st) != 0) {
    perror(path);
    exit(1);
  }
  struct iovec whole = { malloc((size_t)st.st_size + 1), (size_t)st.st_size };
  if (fread(whole.iov_base, 1, whole.iov_len, file) != whole.iov_len) exit(1);
  fclose(file);
  return whole;
}

static void split_heads(struct iovec whole) {
  char *at = whole.iov_base, *end = at + whole.iov_len;
  while (at < end && head_count < HEADS_MAX) {
    char *stop = memmem(at, (size_t)(end - at), "\r\n\r\n", 4);
    if (stop == NULL) break;
    heads[head_count++] = (struct iovec){ at, (size_t)(stop + 4 - at) };
    at = stop + 4;
  }
  if (head_count == 0) exit(2);
}

// mode port heads body connections rate events warm seconds watched...
int main(int argc, char **argv) {
  if (argc < 10) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL); // nothing outlives the benchmark
  signal(SIGPIPE, SIG_IGN);
  options.mode = argv[1];
  options.port = atoi(argv[2]);
  split_heads(read_file(argv[3]));
  body = read_file(argv[4]);
  options.connections = atoi(argv[5]);
  options.rate = atof(argv[6]);
  options.events = atoi(argv[7]);
  options.warm = atof(argv[8]);
  options.seconds = atof(argv[9]);
  for (int i = 10; i < argc && options.watched < WATCHED_MAX; i++) {
    options.watch[options.watched++] = argv[i];
  }
  samples = malloc(sizeof *samples * SAMPLES_MAX); // touched only as far as it is used
  all = calloc((size_t)options.connections, sizeof *all);
  idle = calloc((size_t)options.connections, sizeof *idle);
  for (int i = 0; i < options.connections; i++) {
    all[i].fd = -1;
    all[i].reply.head = malloc(REPLY_HEAD_MAX);
    idle[idle_count++] = i;
  }
  poller = epoll_create1(EPOLL_CLOEXEC);
  double before[WATCHED_MAX], own = 0, relay[2], others[2];
  uint64_t begin = now_ns(), from = begin + (uint64_t)(options.warm * 1e9);
  run_until(begin, from);
  for (int i = 0; i < options.watched; i++) before[i] = cpu_us(options.watch[i]);
  own = own_us();
  busy_us(&relay[0], &others[0]);
  printf("begin\n");
  fflush(stdout);
  is_measuring = true;
  from = now_ns();
  run_until(begin, from + (uint64_t)(options.seconds * 1e9));
  uint64_t to = now_ns();
  is_measuring = false;
  busy_us(&relay[1], &others[1]);
  own = own_us() - own;
  printf("{\"cpuUs\":[");
  for (int i = 0; i < options.watched; i++) {
    printf("%s%.0f", i == 0 ? "" : ",", cpu_us(options.watch[i]) - before[i]);
  }
  qsort(samples, sample_count, sizeof *samples, by_size);
  for (char *p = first_error; *p != '\0'; p++) {
    if (*p < ' ' || *p == '"' || *p == '\\' || *p > '~') *p = ' ';
  }
  printf("],\"ownCpuUs\":%.0f,\"relayCoreUs\":%.0f,\"otherCoresUs\":%.0f,\"seconds\":%.6f,", own,
    relay[1] - relay[0], others[1] - others[0], (double)(to - from) / 1e9);
  printf("\"requests\":%llu,\"events\":%llu,\"errors\":%llu,\"begun\":%d,",
    (unsigned long long)requests, (unsigned long long)events_seen, (unsigned long long)errors,
    begun);
  printf("\"p50Us\":%.1f,\"p99Us\":%.1f,\"error\":\"%s\"}\n", quantile_us(0.5), quantile_us(0.99),
    first_error);
  return 0;
}
