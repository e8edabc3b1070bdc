/** The minutes product's driver, against answers in the shapes that clients have recorded. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { doubaoMinutesDriver as driver } from '../../../server/wire/upstreams/doubao-minutes/minutes.ts'
import type { UpstreamFailure } from '../../../server/wire/upstreams/failure.ts'
import { startServer } from '../../support/servers/local-server.ts'
import { type Recorded, startRecorded, wire } from '../recording-vendor.ts'

const ID = '7534280011223344556'
const QUERY = '/api/v3/auc/lark/query'
const SUBMIT = '/api/v3/auc/lark/submit'
const PARAMETERS = {
  file_url: 'https://files.example/a.mp3',
  file_type: 'audio',
  source_lang: 'zh_cn',
  speaker_identification: true,
  number_of_speakers: 0,
  need_word_time_series: false,
}

const succeededWith = (files: unknown): Recorded => {
  return { code: 20000000, body: { Data: { Status: 'success', Result: files } } }
}

async function vendor(t: TestContext, answers: (url: string) => Record<string, Recorded>) {
  const { url, seen } = await startRecorded(t, answers)
  const settings = { base_url: url, api_key: 'speech-key' }
  const reference = { settings, upstreamModel: 'volc.lark.minutes', upstreamId: ID }
  const pollTask = (recordingSeconds?: number) =>
    driver.poll(wire, { ...reference, recordingSeconds })
  const submit = (more: Readonly<Record<string, unknown>>) =>
    driver.submit(
      wire,
      {
        settings,
        upstreamModel: 'volc.lark.minutes',
        details: {},
        sentFields: new Set(),
        parameters: { ...PARAMETERS, ...more },
      },
      { id: 'att_1' },
    )
  return { pollTask: pollTask, submit, seen }
}

test('all_activate sets the flag of billing and every ability beside it', async (t) => {
  const answers = { [SUBMIT]: { code: 20000000, body: { Data: { TaskID: ID } } } }
  const { submit, seen } = await vendor(t, () => answers)
  assert.deepEqual(await submit({ all_activate: true, hot_words: '豆包，字节' }), {
    upstreamId: ID,
  })
  const [request] = seen
  assert.ok(request)
  const { headers, body } = request
  assert.equal(headers['x-api-key'], 'speech-key')
  assert.equal(headers['x-api-resource-id'], 'volc.lark.minutes')
  assert.equal(headers['x-api-sequence'], '-1')
  assert.deepEqual(JSON.parse(body), {
    Input: { Offline: { FileURL: PARAMETERS.file_url, FileType: 'audio' } },
    Params: {
      AllActivate: true,
      SourceLang: 'zh_cn',
      AudioTranscriptionEnable: true,
      AudioTranscriptionParams: {
        SpeakerIdentification: true,
        NumberOfSpeaker: 0,
        NeedWordTimeSeries: false,
        HotWords: '[{"word":"豆包"},{"word":"字节"}]',
      },
      SummarizationEnabled: true,
      SummarizationParams: { Types: ['summary'] },
      ChapterEnabled: true,
      InformationExtractionEnabled: true,
      InformationExtractionParams: { Types: ['todo_list', 'question_answer'] },
      TranslationEnable: true,
      TranslationParams: { TargetLang: 'en_us' },
    },
  })
})

for (const [name, recorded, kind] of [
  ['a parameter that is wrong', { code: 45000001, message: 'bad' }, 'rejected'],
  ['a product that was not bought', { code: 45000030 }, 'channel_fault'],
  ['a server that is busy', { code: 55000031 }, 'busy'],
  ['an inner error', { code: 55000000 }, 'failed'],
  ['an answer without an outcome', { body: {} }, 'unknown'],
  ['success without an id', { code: 20000000, body: {} }, 'unknown'],
  ['a key that is wrong', { status: 401, body: { header: { code: 45000010 } } }, 'channel_fault'],
] as const) {
  test(`a submission: ${name} is ${kind}`, async (t) => {
    const { submit } = await vendor(t, () => ({ [SUBMIT]: recorded }))
    const isKind = (error: UpstreamFailure) => error.kind === kind
    await assert.rejects(submit({ features: { summary: true } }), isKind)
  })
}

test('files are read, with times as numbers or as strings, and without words', async (t) => {
  const speaker = { id: '1', name: '说话人1', type: 101 }
  const sentence = { sentence_id: '0', paragraph_id: '', lang: 'zh_cn', channel_id: 0, words: null }
  const { pollTask, seen } = await vendor(t, (url) => ({
    [QUERY]: {
      code: 20000000,
      body: {
        Code: 0,
        Message: 'success',
        Data: {
          TaskID: ID,
          Status: 'success',
          ErrCode: 0,
          ErrMessage: '',
          Result: {
            AudioTranscriptionFile: `${url}/t`,
            SummarizationFile: `${url}/s`,
            ChapterFile: `${url}/c`,
            InformationExtractionFile: '',
            TranslationFile: '',
          },
        },
      },
    },
    '/t': {
      body: [
        { ...sentence, content: '大家好，', start_time: '120', end_time: '1480', speaker },
        { ...sentence, content: '开始吧。', start_time: 1700, end_time: 2660, speaker },
      ],
    },
    '/s': { body: { title: '会议', paragraph: '会议开始。' } },
    '/c': {
      body: {
        chapter_summary: [{ start_time: 0, end_time: '4820', title: '开场', summary: '好' }],
      },
    },
  }))
  assert.deepEqual(await pollTask(), {
    state: 'succeeded',
    usage: { second: 5 },
    result: {
      duration: 4.82,
      text: '大家好，开始吧。',
      sentences: [
        { start_ms: 120, end_ms: 1480, speaker: '1', text: '大家好，' },
        { start_ms: 1700, end_ms: 2660, speaker: '1', text: '开始吧。' },
      ],
      summary: '会议\n会议开始。',
      chapters: [{ start_ms: 0, end_ms: 4820, title: '开场', summary: '好' }],
    },
  })
  assert.equal(seen.find(({ path }) => path === '/t')?.headers['x-api-key'], undefined)
})

test('a result file that is no JSON is fetched again at the next poll', async (t) => {
  const server = await startServer((_request, response) => response.end('<html>'))
  t.after(server.stop)
  const file = `${server.url}/t`
  const { pollTask } = await vendor(t, () => ({
    [QUERY]: {
      code: 20000000,
      body: { Data: { Status: 'success', Result: { AudioTranscriptionFile: file } } },
    },
  }))
  await assert.rejects(pollTask(), { kind: 'failed' })
})

for (const [endMs, stated] of [
  [7_200_000, { usage: { second: 7200 } }],
  [7_200_001, { measured: { second: 7201 } }],
  [1e14, { measured: { second: 1e11 } }],
] as const) {
  test(`a last sentence that ends at ${endMs} ms ${Object.keys(stated)[0]}`, async (t) => {
    const { pollTask } = await vendor(t, (url) => ({
      [QUERY]: {
        code: 20000000,
        body: { Data: { Status: 'success', Result: { AudioTranscriptionFile: `${url}/t` } } },
      },
      '/t': { body: [{ content: 'x', start_time: 0, end_time: endMs }] },
    }))
    const {
      state: _state,
      result: _result,
      ...rest
    } = (await pollTask()) as Readonly<Record<string, unknown>>
    assert.deepEqual(rest, stated)
  })
}

for (const [name, measured, expected] of [
  ['longer than what was said', 60.5, { duration: 60.5, charged: { measured: { second: 61 } } }],
  ['shorter than what was said', 2, { duration: 4.8, charged: { usage: { second: 5 } } }],
] as const) {
  test(`a recording that is ${name}`, async (t) => {
    const { pollTask } = await vendor(t, (url) => ({
      [QUERY]: {
        code: 20000000,
        body: { Data: { Status: 'success', Result: { AudioTranscriptionFile: `${url}/t` } } },
      },
      '/t': { body: [{ content: 'x', start_time: 0, end_time: 4800 }] },
    }))
    const { state: _state, ...rest } = await pollTask(measured)
    const { result, ...charged } = rest as { readonly result: { readonly duration: number } }
    assert.deepEqual({ duration: result.duration, charged }, expected)
  })
}

test('a success without a word is not charged as the longest recording', async (t) => {
  const { pollTask } = await vendor(t, (url) => ({
    [QUERY]: succeededWith({ AudioTranscriptionFile: `${url}/t` }),
    '/t': { body: [] },
  }))
  const result = { duration: 0, text: '', sentences: [] }
  assert.deepEqual(await pollTask(), { state: 'succeeded', result, measured: { second: 0 } })
})

for (const [name, Result] of [
  ['no files', undefined],
  ['an empty list of files', {}],
  ['files of the other abilities alone', { SummarizationFile: 'https://files.example/s' }],
  ['an empty link', { AudioTranscriptionFile: '' }],
  ['a link that is no address', { AudioTranscriptionFile: 'a file' }],
] as const) {
  test(`a success with ${name} is polled on`, async (t) => {
    const { pollTask } = await vendor(t, () => ({ [QUERY]: succeededWith(Result) }))
    await assert.rejects(pollTask(), { kind: 'failed' })
  })
}

test('a success whose transcription is no list of sentences is polled on', async (t) => {
  const { pollTask } = await vendor(t, (url) => ({
    [QUERY]: succeededWith({ AudioTranscriptionFile: `${url}/t` }),
    '/t': { body: { code: 1, message: 'try again' } },
  }))
  await assert.rejects(pollTask(), { kind: 'failed' })
})

for (const code of ['', '0', '200', '-1', 'OK', '20000000.5']) {
  test(`the outcome ${JSON.stringify(code)} does not end a task`, async (t) => {
    const { pollTask, submit } = await vendor(t, () => {
      const recorded = { headers: { 'X-Api-Status-Code': code }, body: {} }
      return { [QUERY]: recorded, [SUBMIT]: recorded }
    })
    await assert.rejects(pollTask(), { kind: 'unknown' })
    await assert.rejects(submit({ all_activate: true }), { kind: 'unknown' })
  })
}

for (const [name, recorded, expected] of [
  ['queued', { code: 20000002 }, { state: 'queued' }],
  ['running by the header', { code: 20000001 }, { state: 'processing' }],
  ['running by the status', { code: 20000000, body: { Data: {} } }, { state: 'processing' }],
  [
    'silence',
    { code: 20000003 },
    { state: 'failed', code: '20000003', message: 'no speech was found in the recording' },
  ],
  [
    'too long',
    { code: 20000000, body: { Data: { Status: 'failed', ErrCode: 4807, ErrMessage: 'x' } } },
    { state: 'failed', code: '4807', message: 'the recording is longer than two hours' },
  ],
  [
    'failed without a code',
    { code: 20000000, body: { Data: { Status: 'failed' } } },
    { state: 'failed', code: 'failed', message: 'the recording could not be processed' },
  ],
] as const) {
  test(`a poll: ${name}`, async (t) => {
    const { pollTask } = await vendor(t, () => ({ [QUERY]: recorded }))
    assert.deepEqual(await pollTask(), expected)
  })
}
