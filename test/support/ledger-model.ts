// The ledger as an accountant would write it on one page: plain objects, one operation after the
// other, no SQL. The model-based test compares the database with it, result by result.

export type ModelOp =
  | { do: 'hold'; id: number; book: number; worst: bigint; floor: bigint; fenceBack: number }
  | { do: 'settle'; id: number; book: number; priced: bigint }
  | { do: 'void'; id: number; book: number; ending: 'refused' | 'process_lost' }
  | { do: 'credit'; ref: number; book: number; amount: bigint }
  | { do: 'adjust'; ref: number; book: number; amount: bigint }
  | { do: 'force'; ref: number; book: number; amount: bigint }
  | { do: 'fence'; book: number }
  | { do: 'limit'; book: number; dayLimit: bigint | null }
  | { do: 'midnight' }

type Book = {
  available: bigint
  held: bigint
  debt: bigint
  seq: bigint
  fence: bigint
  requests: bigint
  spent: bigint
  daySpent: bigint
  dayLimit: bigint | null
}

type Hold = {
  book: number
  state: 'open' | 'settled' | 'voided'
  ending: string
  key: string
  granted: bigint
  charged: bigint
  priced: bigint
}

const min = (a: bigint, b: bigint) => (a < b ? a : b)
const max = (a: bigint, b: bigint) => (a > b ? a : b)

/** The worst case if it fits; else half of what is left, at least the floor, which may not fit. */
function grantOf({ worst, floor }: { worst: bigint; floor: bigint }, headroom: bigint): bigint {
  return worst <= headroom ? worst : max(floor, headroom / 2n)
}

export function createLedgerModel(bookCount: number) {
  const books: Book[] = Array.from({ length: bookCount }, () => ({
    available: 0n,
    held: 0n,
    debt: 0n,
    seq: 0n,
    fence: 0n,
    requests: 0n,
    spent: 0n,
    daySpent: 0n,
    dayLimit: null,
  }))
  const holds = new Map<number, Hold>()
  const postings = new Map<string, { book: number; amount: bigint }>()

  const book = (i: number) => books[i] as Book

  function add(b: Book, amount: bigint): void {
    const paid = min(b.debt, amount)
    b.debt -= paid
    b.available += amount - paid
  }

  function hold(op: ModelOp & { do: 'hold' }, fence: bigint): string {
    const b = book(op.book)
    const key = `${op.worst} ${op.floor} ${fence}`
    const known = holds.get(op.id)
    if (known !== undefined) {
      if (known.book !== op.book) return 'mismatch'
      if (known.state === 'voided') return 'voided'
      return known.key === key ? `granted ${known.granted}` : 'mismatch'
    }
    const byDay = b.dayLimit === null ? b.available : b.dayLimit - b.daySpent - b.held
    const headroom = max(0n, min(b.available, byDay))
    const granted = grantOf(op, headroom)
    if (b.fence !== fence) return 'fence'
    if (b.debt > 0n) return 'debt'
    if (granted > headroom) {
      return grantOf(op, b.available) <= b.available ? 'day_limit' : 'credits'
    }
    holds.set(op.id, {
      book: op.book,
      state: 'open',
      ending: '',
      key,
      granted,
      charged: 0n,
      priced: 0n,
    })
    b.available -= granted
    b.held += granted
    return `granted ${granted}`
  }

  function settle(op: ModelOp & { do: 'settle' }): string {
    const b = book(op.book)
    const h = holds.get(op.id)
    if (h === undefined) return 'hold_unknown'
    if (h.book !== op.book) return 'mismatch'
    if (h.state === 'settled') {
      return h.priced === op.priced ? `settled ${h.charged}` : 'mismatch'
    }
    if (h.state === 'voided' && h.ending !== 'process_lost') return 'voided'
    if (h.state === 'open') {
      h.charged = min(op.priced, h.granted)
      b.held -= h.granted
      add(b, h.granted - h.charged)
    } else {
      h.charged = min(op.priced, min(h.granted, b.available))
      b.available -= h.charged
    }
    h.state = 'settled'
    h.priced = op.priced
    b.seq += 1n
    b.requests += 1n
    b.spent += h.charged
    b.daySpent += h.charged
    return `settled ${h.charged}`
  }

  function voidHold(op: ModelOp & { do: 'void' }): string {
    const b = book(op.book)
    const h = holds.get(op.id)
    if (h === undefined) {
      holds.set(op.id, {
        book: op.book,
        state: 'voided',
        ending: op.ending,
        key: '',
        granted: 0n,
        charged: 0n,
        priced: 0n,
      })
      return 'voided'
    }
    if (h.book !== op.book) return 'mismatch'
    if (h.state === 'open') {
      h.state = 'voided'
      h.ending = op.ending
      b.held -= h.granted
      add(b, h.granted)
      b.seq += 1n
    }
    return h.state
  }

  function post(kind: string, ref: number, i: number, amount: bigint): string {
    const known = postings.get(`${kind} ${ref}`)
    if (known !== undefined) {
      return known.book === i && known.amount === amount ? 'repeated' : 'mismatch'
    }
    postings.set(`${kind} ${ref}`, { book: i, amount })
    book(i).seq += 1n
    return 'posted'
  }

  function apply(op: ModelOp, fence: bigint): string {
    switch (op.do) {
      case 'hold':
        return hold(op, fence)
      case 'settle':
        return settle(op)
      case 'void':
        return voidHold(op)
      case 'credit': {
        const outcome = post('credit', op.ref, op.book, op.amount)
        if (outcome === 'posted') add(book(op.book), op.amount)
        return outcome
      }
      case 'adjust': {
        const b = book(op.book)
        const isKnown = postings.has(`adjust ${op.ref}`)
        if (!isKnown && op.amount > b.available) return 'exceeds_available'
        const outcome = post('adjust', op.ref, op.book, op.amount)
        if (outcome === 'posted') b.available -= op.amount
        return outcome
      }
      case 'force': {
        const b = book(op.book)
        const outcome = post('force', op.ref, op.book, op.amount)
        if (outcome === 'posted') {
          const taken = min(b.available, op.amount)
          b.available -= taken
          b.debt += op.amount - taken
        }
        return outcome
      }
      case 'fence':
        book(op.book).fence += 1n
        return String(book(op.book).fence)
      case 'limit':
        book(op.book).dayLimit = op.dayLimit
        return ''
      case 'midnight':
        for (const b of books) b.daySpent = 0n
        return ''
    }
  }

  return { apply, books }
}
