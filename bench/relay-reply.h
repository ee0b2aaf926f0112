// Reads one HTTP reply as its bytes come in, for relay-load.c: the head, then a body of known
// length or in chunks, and in chunks the times that the stub wrote into its events.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REPLY_HEAD_MAX 8192

typedef enum { HEAD, FIXED, SIZE, DATA, DATA_END, TRAILER } Phase;

typedef struct {
  Phase phase;
  bool must_close;
  size_t head_bytes, left;
  int digits, stamps, trailer_bytes;
  uint64_t stamp;
  char *head;
} Reply;

// Called for every event, with the time at which the stub wrote it.
static void on_stamp(Reply *reply, uint64_t written_ns);

static void reply_begin(Reply *r) {
  r->phase = HEAD;
  r->head_bytes = 0;
  r->left = 0;
  r->stamps = 0;
  r->digits = -1;
}

// Sixteen hexadecimal digits between two @, which no other text of the stub contains.
static void read_stamps(Reply *r, const char *bytes, size_t count) {
  for (const char *end = bytes + count; bytes < end; bytes++) {
    if (r->digits < 0) {
      bytes = memchr(bytes, '@', (size_t)(end - bytes));
      if (bytes == NULL) return;
      r->digits = 0;
      r->stamp = 0;
    } else if (r->digits == 16) {
      r->digits = -1;
      r->stamps += 1;
      on_stamp(r, r->stamp);
    } else {
      char d = *bytes;
      r->stamp = r->stamp << 4 | (uint64_t)(d <= '9' ? d - '0' : d - 'a' + 10);
      r->digits += 1;
    }
  }
}

static bool read_head(Reply *r) {
  if (strncmp(r->head, "HTTP/1.1 200", 12) != 0) return false;
  r->must_close = strcasestr(r->head, "\r\nconnection: close") != NULL;
  const char *length = strcasestr(r->head, "\r\ncontent-length:");
  if (length != NULL) {
    r->left = strtoul(length + 17, NULL, 10);
    r->phase = FIXED;
    return true;
  }
  r->phase = SIZE;
  return strcasestr(r->head, "\r\ntransfer-encoding: chunked") != NULL;
}

// Consumes some of the bytes and returns how many; 0 when this is not an expected reply.
static size_t reply_step(Reply *r, const char *bytes, size_t count) {
  size_t used = count < r->left ? count : r->left;
  switch (r->phase) {
    case HEAD: {
      size_t room = REPLY_HEAD_MAX - 1 - r->head_bytes;
      size_t part = count < room ? count : room;
      memcpy(r->head + r->head_bytes, bytes, part);
      size_t before = r->head_bytes;
      r->head_bytes += part;
      r->head[r->head_bytes] = '\0';
      char *end = strstr(r->head, "\r\n\r\n");
      if (end == NULL) return part;
      return read_head(r) ? (size_t)(end + 4 - r->head) - before : 0;
    }
    case FIXED:
      r->left -= used;
      return used;
    case DATA:
      read_stamps(r, bytes, used);
      r->left -= used;
      if (r->left == 0) r->phase = DATA_END;
      return used;
    case SIZE:
      if (*bytes == '\n') {
        r->trailer_bytes = 0;
        r->phase = r->left == 0 ? TRAILER : DATA;
      } else if (*bytes != '\r') {
        char d = (char)(*bytes | 32);
        r->left = r->left << 4 | (size_t)(d <= '9' ? d - '0' : d - 'a' + 10);
      }
      return 1;
    case DATA_END:
      if (*bytes == '\n') r->phase = SIZE;
      return 1;
    case TRAILER: // empty in every relay measured here
      r->trailer_bytes += 1;
      return 1;
  }
  return 0;
}

static bool reply_is_complete(const Reply *r) {
  return (r->phase == FIXED && r->left == 0) || (r->phase == TRAILER && r->trailer_bytes == 2);
}
