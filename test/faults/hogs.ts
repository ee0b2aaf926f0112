// Two accounts use as much of the gateway as they can: announced bodies, floods of the free
// endpoints, streams that are read slowly or not at all, and the largest bodies. Every request of a
// third account succeeds, as fast as without them.
import type { Drill } from '../support/drill.ts'
import { besideHogs } from './support/beside-hogs.ts'

const KINDS = { announced: 12, counts: 12, reads: 8, slow: 12, unread: 12, huge: 8 }

export const drill: Drill = ({ isFull, say }) => besideHogs({ isFull, say, kinds: KINDS })
