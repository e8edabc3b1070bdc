/** Sends what an attack has prepared, on raw sockets, so that its own work stays small. */
import { connect, type Socket } from 'node:net'
import type { Manner } from './attack.ts'

/** Answers by status; `closed` are connections that the gateway ended. */
export type Tally = Record<string, number>

export interface Played {
  readonly tally: Tally
  stop(): void
}

type Bytes = readonly [Buffer, ...Buffer[]]

const TICK_MS = 20
const HEAD = /HTTP\/1\.1 (\d{3}) /g

/** An open connection that counts what comes back. */
interface Line {
  readonly socket: Socket
  /** Requests that have no answer yet. */
  waiting: number
  isOpen: boolean
}

export function play(port: number, manner: Manner, bytes: Bytes): Played {
  const tally: Tally = {}
  const lines = new Set<Line>()
  const timers: NodeJS.Timeout[] = []
  const count = (name: string) => {
    tally[name] = (tally[name] ?? 0) + 1
  }
  let isOver = false

  function open(reads: boolean): Line {
    const line: Line = { socket: connect(port, '127.0.0.1'), waiting: 0, isOpen: true }
    const { socket } = line
    lines.add(line)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      line.isOpen = false
      lines.delete(line)
      if (!isOver) count('closed')
    })
    if (!reads) return line
    socket.on('data', (data) => {
      for (const [, status = ''] of data.toString('latin1').matchAll(HEAD)) {
        count(status)
        line.waiting -= 1
      }
    })
    return line
  }
  const openAll = (connections: number, reads: boolean, use: (line: Line) => void) => {
    for (let at = 0; at < connections; at += 1) use(open(reads))
  }
  /** Calls `act` at a rate, and makes up for ticks that come late. */
  const every = (perSecond: number, act: (turn: number) => void) => {
    const startedAt = performance.now()
    let turn = 0
    const tick = () => {
      const due = ((performance.now() - startedAt) / 1000) * perSecond
      for (; turn < due; turn += 1) act(turn)
    }
    timers.push(setInterval(tick, TICK_MS))
  }

  MANNERS[manner.kind]({ manner: manner as never, bytes, open, openAll, every })
  return {
    tally,
    stop() {
      isOver = true
      for (const timer of timers) clearInterval(timer)
      for (const { socket } of lines) socket.destroy()
    },
  }
}

interface Playing<Kind extends Manner['kind']> {
  readonly manner: Extract<Manner, { kind: Kind }>
  readonly bytes: Bytes
  readonly open: (reads: boolean) => Line
  readonly openAll: (connections: number, reads: boolean, use: (line: Line) => void) => void
  readonly every: (perSecond: number, act: (turn: number) => void) => void
}

const MANNERS: { readonly [Kind in Manner['kind']]: (playing: Playing<Kind>) => void } = {
  flood({ manner: { perSecond, connections }, bytes, open, every }) {
    const places = Array.from({ length: connections }, () => open(true))
    every(perSecond, (turn) => {
      const at = turn % connections
      let line = places[at]
      if (!line?.isOpen) {
        line = open(true)
        places[at] = line
      }
      if (line.waiting > 0) return
      line.waiting += 1
      line.socket.write(bytes[turn % bytes.length] ?? bytes[0])
    })
  },
  hold({ manner: { connections }, bytes: [whole], openAll }) {
    openAll(connections, true, ({ socket }) => void socket.write(whole.subarray(0, -1)))
  },
  drip({ manner: { connections, everyMs }, bytes: [start], openAll, every }) {
    const sockets: Socket[] = []
    openAll(connections, true, ({ socket }) => {
      sockets.push(socket)
      socket.write(start)
    })
    every((1000 / everyMs) * connections, (turn) => {
      const socket = sockets[turn % sockets.length]
      if (socket?.writable) socket.write(' ')
    })
  },
  unread({ manner: { connections }, bytes: [whole], openAll }) {
    openAll(connections, false, ({ socket }) => {
      socket.pause()
      socket.write(whole)
    })
  },
  socket({ manner: { connections, perSecond }, bytes: [upgrade, ...messages], openAll, every }) {
    const sockets: Socket[] = []
    openAll(connections, false, ({ socket }) => {
      sockets.push(socket)
      socket.pause()
      socket.write(upgrade)
    })
    every(perSecond, (turn) => {
      const socket = sockets[turn % sockets.length]
      const message = messages[turn % messages.length]
      // A full socket skips its turn, since bytes that wait here do not burden the gateway.
      if (socket?.writable && message && socket.writableLength === 0) socket.write(message)
    })
  },
}
