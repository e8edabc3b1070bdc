/** Garbage of large work is collected while it is young, and the rest once there is much of it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Gathering } from '../../../server/base/lib/memory/gathering.ts'
import { type HeapCollector, LargeGarbage } from '../../../server/base/lib/memory/large-garbage.ts'
import { openPageRelease } from '../../../server/base/lib/memory/release-pages.ts'
import { testMemory } from '../../support/memory.ts'

const MB = 1024 ** 2

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** A collector that frees what a test says, once the collection has begun. */
function open(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const state = { minor: 0, major: 0, buffers: 0, used: 0, live: 0, released: 0 }
  const collector: HeapCollector = {
    collect(type) {
      state[type] += 1
      if (type === 'major') state.buffers = state.live
    },
    bufferBytes: () => state.buffers,
    release: () => {
      state.released += 1
    },
  }
  const garbage = new LargeGarbage(() => state.used, collector)
  return {
    state,
    garbage,
    collector,
    /** Reads 16 MB, and waits until what follows has been done. */
    async read() {
      garbage.add(16 * MB)
      await nextTurn()
      t.mock.timers.tick(1_000)
      t.mock.timers.tick(1_000)
    },
  }
}

test('a collection of young objects follows each 16 MB, however they are counted', async (t) => {
  const { garbage, state } = open(t)
  for (const piece of [16 * 1024, MB, 16 * MB]) {
    state.minor = 0
    for (let bytes = 0; bytes < 48 * MB; bytes += piece) {
      garbage.add(piece)
      await nextTurn()
    }
    assert.equal(state.minor, 3, `${piece} bytes at once`)
  }
  assert.equal(state.major, 0)
})

test('nothing is collected before whoever counts has ended, and once for all of a turn', async (t) => {
  const { garbage, state } = open(t)
  for (let count = 0; count < 100; count += 1) garbage.add(4 * MB)
  assert.equal(state.minor, 0)
  await nextTurn()
  assert.equal(state.minor, 1)
  garbage.add(15 * MB)
  await nextTurn()
  assert.equal(state.minor, 1)
})

test('the whole heap is collected once 64 MB of buffers are in use no more', async (t) => {
  const { state, read } = open(t)
  state.used = 100 * MB
  state.buffers = 164 * MB
  await read()
  assert.equal(state.major, 0)
  state.buffers += 1
  await read()
  assert.equal(state.major, 1)
  await read()
  assert.equal(state.major, 1)
})

test('what such a collection leaves is in use, and causes no further one', async (t) => {
  const { state, read } = open(t)
  state.live = 200 * MB
  state.buffers = 265 * MB
  await read()
  for (let bytes = state.live; bytes <= 264 * MB; bytes += 16 * MB) {
    state.buffers = bytes
    await read()
  }
  assert.equal(state.major, 1)
  state.buffers = 265 * MB
  await read()
  assert.equal(state.major, 2)
})

test('what was in use once counts as garbage again when it comes a second time', async (t) => {
  const { state, read } = open(t)
  state.live = 200 * MB
  state.buffers = 265 * MB
  await read()
  state.live = 0
  state.buffers = 0
  await read()
  state.buffers = 65 * MB
  await read()
  assert.equal(state.major, 2)
})

test('before 16 MB or more are read, what others have left makes room for them', (t) => {
  const { garbage, state } = open(t)
  // They count as in use before they are there.
  state.used = 58 * MB
  for (const [buffers, bytes, collections] of [
    [64 * MB, 58 * MB, 0],
    [65 * MB, 15 * MB, 0],
    [65 * MB, 58 * MB, 1],
    [0, 58 * MB, 1],
  ] as const) {
    state.buffers = buffers
    garbage.prepare(bytes)
    assert.equal(state.major, collections, `${buffers} bytes before ${bytes}`)
  }
})

test('what counts and is in the heap hides no garbage', (t) => {
  const { state, collector } = open(t)
  const memory = testMemory({}, collector)
  const portion = memory.bytes.portion('one', 'whole')
  state.buffers = 80 * MB
  portion.force(80 * MB)
  memory.garbage.prepare(16 * MB)
  assert.equal(state.major, 0)
  portion.noteInHeap(80 * MB)
  memory.garbage.prepare(16 * MB)
  assert.equal(state.major, 1)
  portion.end()
  assert.deepEqual([memory.bytes.usedInAll(), memory.bytes.usedInHeap()], [0, 0])
})

test('pages are returned five seconds after large work, however much of it there is', async (t) => {
  const { garbage, state, read } = open(t)
  await read()
  await read()
  assert.equal(state.released, 0)
  await read()
  assert.equal(state.released, 1)
  t.mock.timers.tick(60_000)
  assert.equal(state.released, 1, 'nothing was read since')
  garbage.add(16 * MB)
  await nextTurn()
  t.mock.timers.tick(5_000)
  assert.equal(state.released, 2)
})

test('this process can return its pages, and says nothing of it', (t) => {
  const warned = t.mock.method(process, 'emitWarning')
  Reflect.set(process.report, 'excludeNetwork', true)
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  const isGlibc = header.glibcVersionRuntime !== undefined
  const release = openPageRelease()
  assert.deepEqual([release(), release()], [isGlibc, isGlibc])
  assert.equal(warned.mock.callCount(), 0)
})

/** Returns how often the engine of this process has collected young objects for large garbage. */
function countCollections(t: TestContext): () => number {
  let collections = 0
  t.after(() => Reflect.deleteProperty(globalThis, 'gc'))
  Reflect.set(globalThis, 'gc', ({ type }: { readonly type: string }) => {
    if (type === 'minor') collections += 1
  })
  return () => collections
}

test('what is read back from a file counts as well', async (t) => {
  const collections = countCollections(t)
  const memory = testMemory({})
  const body = new Gathering({ memory, account: 'one', kind: 'answer', bytesMax: 0 })
  body.push(Buffer.alloc(16 * MB))
  await body.kept()
  assert.equal(collections(), 0)
  assert.equal((await body.load()).length, 16 * MB)
  await nextTurn()
  assert.equal(collections(), 1)
  body.close()
})

test('what accounts read counts, whosever it is', async (t) => {
  const collections = countCollections(t)
  const memory = testMemory({})
  for (let count = 0; count < 20; count += 1) memory.loop.count(`account ${count % 4}`, MB)
  await nextTurn()
  assert.equal(collections(), 1)
})
