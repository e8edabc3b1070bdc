/**
 * Cuts a stream into its JSON objects at any chunking. Line feeds between objects are usual but not
 * promised, so the braces decide; a broken object ends at the next byte that cannot belong to it,
 * and reading restarts there. Takes linear time, and holds at most one object of limited size.
 */

export interface NdjsonSplitter {
  /** Feeds bytes. Calls the handler for every object that ends in them, in order. */
  push(chunk: Buffer): void
  /** The body ended: an unfinished object is dropped and counted. */
  end(): void
  /** Objects that were dropped: broken, unfinished, or over the limit. */
  droppedObjects(): number
  /** Bytes of memory for an object that has not ended. */
  heldBytes(): number
}

export interface NdjsonOptions {
  /** The bytes of one object, valid only during the call. Balanced, but not proven to be JSON. */
  readonly onObject: (bytes: Buffer) => void
  /** Bytes of one object. A larger one is dropped, never held. */
  readonly limitBytes?: number
}

const NDJSON_OBJECT_LIMIT_BYTES = 8 * 1024 * 1024

const LF = 0x0a
const QUOTE = 0x22
const BACKSLASH = 0x5c
const FIRST_CAPACITY = 4096
/** A larger buffer is released after its object: idle streams should be small. */
const KEPT_CAPACITY = 64 * 1024
const NOTHING = Buffer.alloc(0)

/** Classes of bytes outside of strings. */
const OTHER = 0
const SPACE = 1
const OPEN_OBJECT = 2
const OPEN_LIST = 3
const CLOSE = 4
const STRING = 5
/** After one of these a value may follow, and so an object may open. */
const INTRODUCER = 6
const KINDS = new Uint8Array(256)
for (const character of ' \t\r\n') KINDS[character.charCodeAt(0)] = SPACE
for (const character of '}]') KINDS[character.charCodeAt(0)] = CLOSE
for (const character of ':,') KINDS[character.charCodeAt(0)] = INTRODUCER
KINDS[0x7b] = OPEN_OBJECT
KINDS[0x5b] = OPEN_LIST
KINDS[QUOTE] = STRING

interface State {
  /** Open braces and brackets; 0 between objects. */
  level: number
  inString: boolean
  /** The last byte was a backslash that escapes the next one. */
  escaped: boolean
  /** The last byte that is not space, as a kind. */
  previous: number
  /** The outermost brace has just closed. */
  complete: boolean
  /** Start of the object in this chunk; 0 if it began in an earlier one. */
  start: number
  /** The next line feed of the chunk, or -1: found once, so that no byte is searched twice. */
  nextLf: number
  /** The object's bytes from earlier chunks are the first `heldBytes` of this. */
  held: Buffer
  heldBytes: number
  tooLarge: boolean
  dropped: number
}

export function createNdjsonSplitter(options: NdjsonOptions): NdjsonSplitter {
  const { onObject, limitBytes = NDJSON_OBJECT_LIMIT_BYTES } = options
  const state: State = {
    level: 0,
    inString: false,
    escaped: false,
    previous: OTHER,
    complete: false,
    start: 0,
    nextLf: -1,
    held: NOTHING,
    heldBytes: 0,
    tooLarge: false,
    dropped: 0,
  }
  return {
    push(chunk) {
      state.start = 0
      state.nextLf = chunk.indexOf(LF)
      let position = 0
      while (position < chunk.length) {
        position = state.inString
          ? skipString(chunk, position, state)
          : readStructure(chunk, position, state)
        if (!state.complete) continue
        const object = takeObject(chunk.subarray(state.start, position), state, limitBytes)
        if (object) onObject(object)
      }
      if (state.level > 0) hold(chunk.subarray(state.start), state, limitBytes)
    },
    end() {
      if (state.level > 0) giveUp(state)
      state.held = NOTHING
    },
    droppedObjects: () => state.dropped,
    heldBytes: () => state.held.length,
  }
}

/** Reads outside of strings up to the end of an object, a string, or the chunk. */
function readStructure(chunk: Buffer, from: number, state: State): number {
  for (let position = from; position < chunk.length; position++) {
    const kind = KINDS[chunk[position] ?? 0] ?? OTHER
    if (kind === SPACE) continue
    const { previous } = state
    state.previous = kind
    if (kind === OPEN_OBJECT) open(state, previous, position)
    else if (state.level === 0) continue
    else if (kind === OPEN_LIST) state.level++
    else if (kind === CLOSE) {
      state.level--
      state.complete = state.level === 0
      if (state.complete) return position + 1
    } else if (kind === STRING) {
      state.inString = true
      return position + 1
    }
  }
  return chunk.length
}

function open(state: State, previous: number, position: number): void {
  const isInner = state.level > 0 && (previous === INTRODUCER || previous === OPEN_LIST)
  if (!isInner) {
    // A brace where no value is allowed: the previous object never closed.
    if (state.level > 0) giveUp(state)
    state.start = position
  }
  state.level++
}

/** Reads on inside a string. A raw line feed cannot stand in one: the object broke off there. */
function skipString(chunk: Buffer, from: number, state: State): number {
  let position = state.escaped ? from + 1 : from
  state.escaped = false
  for (;;) {
    const quote = chunk.indexOf(QUOTE, position)
    const end = quote === -1 ? chunk.length : quote
    if (state.nextLf !== -1 && state.nextLf < position) state.nextLf = chunk.indexOf(LF, position)
    if (state.nextLf !== -1 && state.nextLf < end) {
      giveUp(state)
      return state.nextLf + 1
    }
    const escaped = isEscaped(chunk, end, position)
    if (quote === -1) {
      state.escaped = escaped
      return chunk.length
    }
    position = quote + 1
    if (!escaped) {
      state.inString = false
      return position
    }
  }
}

/** Returns true if an odd number of backslashes precedes `offset`; `floor` is a clean boundary. */
function isEscaped(bytes: Buffer, offset: number, floor: number): boolean {
  let slash = offset - 1
  while (slash >= floor && bytes[slash] === BACKSLASH) slash--
  return (offset - slash) % 2 === 0
}

/** Forgets the open object. */
function giveUp(state: State): void {
  state.dropped++
  state.level = 0
  state.inString = false
  state.previous = OTHER
  state.heldBytes = 0
  state.tooLarge = false
}

/** Keeps the part of an object that has arrived; the buffer doubles, so copying stays linear. */
function hold(piece: Buffer, state: State, limitBytes: number): void {
  const needed = state.heldBytes + piece.length
  if (state.tooLarge || needed > limitBytes) {
    state.tooLarge = true
    state.heldBytes = 0
    state.held = NOTHING
    return
  }
  if (needed > state.held.length) {
    const larger = Buffer.allocUnsafe(Math.max(needed, state.held.length * 2, FIRST_CAPACITY))
    state.held.copy(larger, 0, 0, state.heldBytes)
    state.held = larger
  }
  piece.copy(state.held, state.heldBytes)
  state.heldBytes = needed
}

/** The whole object, whose last part is `piece`; undefined when it is over the limit. */
function takeObject(piece: Buffer, state: State, limitBytes: number): Buffer | undefined {
  state.complete = false
  state.previous = OTHER
  let object: Buffer | undefined = piece
  if (state.heldBytes > 0 || state.tooLarge || piece.length > limitBytes) {
    hold(piece, state, limitBytes)
    object = state.tooLarge ? undefined : state.held.subarray(0, state.heldBytes)
  }
  if (!object) state.dropped++
  if (state.held.length > KEPT_CAPACITY) state.held = NOTHING
  state.heldBytes = 0
  state.tooLarge = false
  return object
}
