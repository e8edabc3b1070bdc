// The simulated interpretation service, over real WebSockets.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countSyllables } from '../../../simulators/openspeech/audio/count.ts'
import { render } from '../../../simulators/openspeech/audio/render.ts'
import { joinWords, wordsInBytes } from '../../../simulators/openspeech/audio/words.ts'
import { decode, WITHOUT_FFMPEG } from '../../support/ffmpeg.ts'
import { simulated } from '../support.ts'
import {
  connectTo,
  eventMessage,
  HEADERS,
  interpret,
  type Received,
  readReceived,
  startMessage,
} from './interpretation-support.ts'

const sim = simulated({ timeScale: 0.1 })

function speech(text: string): Buffer {
  const voice = { format: 'pcm', sampleRate: 16000, bitRate: 0, speed: 1, silenceMs: 0 } as const
  return Buffer.concat(render(text, voice, undefined).fragments.map(({ audio }) => audio))
}

const texts = (received: Received[], event: number) =>
  received.filter((one) => one.event === event).map((one) => one.text)

const sum = (received: Received[], unit: string) =>
  received.reduce((total, one) => total + (one.items[unit] ?? 0), 0)

const lastEntry = () => sim.running.book.entries({ operation: 'interpretation' }).at(-1)

test('each sentence comes back in both languages, in the documented order of events', async () => {
  const pcm = speech('All rivers run. Into the sea!')
  const received = await interpret(sim.url, pcm, { source: 'en', target: 'zh' })
  assert.deepEqual(texts(received, 652), ['All rivers run.', 'Into the sea!'])
  assert.deepEqual(texts(received, 655), ['zh All rivers run.', 'zh Into the sea!'])
  const order = received.map((one) => one.event)
  const sentence = [650, 651, 653, 651, 654, 652, 654, 655, 154]
  assert.deepEqual(order, [150, ...sentence, ...sentence, 154, 152])
  assert.ok(received.every((one) => one.code === 20000000 && one.session === 's-1'))
  const [first, second] = received.filter((one) => one.event === 655)
  assert.ok(first && second && first.endMs > first.startMs && second.startMs >= first.endMs)
})

test('usage comes in increments, and the book has their sum', async () => {
  const pcm = speech('One. Two. Three.')
  const received = await interpret(sim.url, pcm)
  const input = Math.ceil(pcm.length / 32 / 160)
  const characters = 'en One.en Two.en Three.'.length
  assert.equal(sum(received, 'input_audio_tokens'), input)
  assert.equal(sum(received, 'output_text_tokens'), characters)
  const units = { input_token: input, output_token: characters }
  assert.deepEqual(lastEntry()?.units, units)
  assert.equal(lastEntry()?.billed, true)
})

test('spoken translations are one Ogg that carries their words', async () => {
  const received = await interpret(sim.url, speech('你好。再见。'), { mode: 's2s' })
  const pieces = received.filter((one) => one.event === 352).map((one) => one.data)
  const ogg = Buffer.concat(pieces)
  assert.equal(joinWords(wordsInBytes(ogg).map(({ word }) => word)), 'en 你好。en 再见。')
  assert.deepEqual(texts(received, 350), ['en 你好。', 'en 再见。'])
  assert.equal(received.at(-3)?.event, 359)
  assert.ok(sum(received, 'output_audio_tokens') > 0)
})

test('an independent decoder plays the Ogg in full', { skip: WITHOUT_FFMPEG }, async () => {
  const received = await interpret(sim.url, speech('你好。再见。'), { mode: 's2s' })
  const pieces = received.filter((one) => one.event === 352).map((one) => one.data)
  const pcm = await decode(Buffer.concat(pieces), 48000)
  assert.equal(countSyllables(pcm, 48000), 6)
  const seconds = pcm.length / 2 / 48000
  const tokens = sum(received, 'output_audio_tokens')
  assert.ok(Math.abs(seconds - tokens * 0.16) < 0.2, `${seconds} s for ${tokens} tokens`)
})

test('samples come as 16-bit numbers at 16 kHz and as floats at 24 kHz', async () => {
  const bytes = async (targetRate: number) => {
    const options = { mode: 's2s', targetFormat: 'pcm', targetRate }
    const received = await interpret(sim.url, speech('你好。'), options)
    return Buffer.concat(received.map((one) => one.data)).length
  }
  assert.equal(await bytes(24000), (await bytes(16000)) * 3)
})

test('sound without words is interpreted sentence by sentence, silence is reported', async () => {
  const noise = Buffer.alloc(64000 * 2, 3)
  assert.deepEqual(texts(await interpret(sim.url, noise), 655), [
    'en Sentence 1.',
    'en Sentence 2.',
  ])
  const muted = await interpret(sim.url, Buffer.alloc(32000 * 4))
  assert.equal(muted.filter((one) => one.event === 250).length, 3)
  assert.deepEqual(texts(muted, 655), [])
})

test('a connection without grant or key is refused before it is switched', async () => {
  const resource = { 'X-Api-Key': 'sim-speech-key', 'X-Api-Resource-Id': 'other' }
  await assert.rejects(connectTo(sim.url, resource), /refused with 403/)
  await assert.rejects(connectTo(sim.url, { ...HEADERS, 'X-Api-Key': 'x' }), /refused with 401/)
})

test('sessions that cannot be are refused with their code', async () => {
  const cases: [Parameters<typeof startMessage>[1], number][] = [
    [{ rate: 8000 }, 45000151],
    [{ format: 'mp3' }, 45000151],
    [{ mode: 'x' }, 45000001],
    [{ source: 'ja', target: 'de' }, 45000001],
    [{ mode: 's2s', source: 'ko', target: 'en' }, 45000001],
    [{ mode: 's2s', source: 'zh', target: 'en', targetFormat: 'mp3' }, 45000151],
  ]
  for (const [options, code] of cases) {
    const client = await connectTo(sim.url)
    client.socket.send(startMessage('s-1', options))
    assert.equal((await client.until(153)).code, code, JSON.stringify(options))
    await client.closed
  }
})

test('no audio, no packets and no message fail as the vendor says', async () => {
  const empty = await connectTo(sim.url)
  empty.socket.send(startMessage('s-1'))
  empty.socket.send(eventMessage('s-1', 102))
  assert.equal((await empty.until(153)).code, 45000002)
  const slow = await connectTo(sim.url)
  slow.socket.send(startMessage('s-1'))
  assert.equal((await slow.until(153)).code, 45000081)
  const broken = await connectTo(sim.url)
  broken.socket.send(Buffer.from([0xff]))
  assert.equal((await broken.until(153)).code, 45000001)
})

test('a cancelled session is billed for the audio received, and the socket takes another', async () => {
  const client = await connectTo(sim.url)
  client.socket.send(startMessage('s-1'))
  client.socket.send(eventMessage('s-1', 200, Buffer.alloc(2560 * 2, 1)))
  client.socket.send(eventMessage('s-1', 101))
  await client.until(151)
  assert.deepEqual(lastEntry()?.units, { input_token: 1, output_token: 0 })
  client.socket.send(startMessage('s-2'))
  while (client.received.filter((one) => one.event === 150).length < 2) {
    await new Promise((resolve) => client.socket.once('message', resolve))
  }
  client.socket.terminate()
  await sim.running.book.settled()
  assert.equal(lastEntry()?.reason, 'client went away')
})

const SCENARIOS: [scenario: string, check: (client: Received[], code: number) => void][] = [
  ['reset-mid=3', (received, code) => assert.deepEqual([received.length, code], [3, 1006])],
  ['close-mid=3', (received, code) => assert.deepEqual([received.length, code], [3, 1000])],
  [
    'error-mid;at=3;error-code=55000031',
    (received) => assert.equal(received.at(-1)?.code, 55000031),
  ],
  ['fail-start=55000031', (received) => assert.equal(received.at(-1)?.code, 55000031)],
]

for (const [scenario, check] of SCENARIOS) {
  test(`the scenario ${scenario} is played`, async () => {
    sim.running.faults.add({ operation: 'interpretation', scenario })
    const client = await connectTo(sim.url)
    client.socket.on('error', () => {})
    client.socket.send(startMessage('s-1'))
    const pcm = speech('One. Two.')
    if (!scenario.startsWith('fail')) await client.until(150)
    client.socket.send(eventMessage('s-1', 200, pcm))
    client.socket.send(eventMessage('s-1', 102))
    check(client.received, await client.closed.then((code) => code))
    await sim.running.book.settled()
  })
}

test('usage can be missing, and messages back to front', async () => {
  sim.running.faults.add({ operation: 'interpretation', scenario: 'usage=absent;wrong-order' })
  const received = await interpret(sim.url, speech('One.'))
  assert.deepEqual(
    received.map((one) => one.event),
    [150, 655, 654, 652, 654, 651, 653, 651, 650, 152],
  )
  assert.ok((lastEntry()?.units.input_token ?? 0) > 0)
})

test('a session start that was encoded by hand is answered with the expected bytes', async () => {
  const client = await connectTo(sim.url)
  const start =
    '0a053203732d311064221122037761762a0372617738807d40104801320d0a0373327412027a681a02656e'
  client.socket.send(Buffer.from(start, 'hex'))
  const bytes = await new Promise<Buffer>((resolve) => client.socket.once('message', resolve))
  assert.equal(readReceived(bytes).message, 'OK')
  // Beside the least answer it has the sequence (10 01), which the simulator counts.
  assert.equal(bytes.toString('hex'), '0a100a03732d3110011880dac40922024f4b109601')
  client.socket.terminate()
})
