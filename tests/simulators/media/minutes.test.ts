import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { untilValue } from '../../support/until.ts'
import { type Answer, type Json, KEYS, list, simulated } from '../support.ts'

const SUBMIT = '/openspeech/api/v3/auc/lark/submit'
const QUERY = '/openspeech/api/v3/auc/lark/query'
const sim = simulated({ timeScale: 0.001 })

const FEATURES = {
  SummarizationEnabled: true,
  SummarizationParams: { Types: ['summary'] },
  ChapterEnabled: true,
  InformationExtractionEnabled: true,
  InformationExtractionParams: { Types: ['todo_list', 'question_answer'] },
  TranslationEnable: true,
  TranslationParams: { TargetLang: 'zh_cn' },
}

const body = (FileURL: string, more: object = {}) => ({
  Input: { Offline: { FileURL, FileType: 'audio' } },
  Params: {
    AllActivate: false,
    SourceLang: 'en_us',
    AudioTranscriptionEnable: true,
    AudioTranscriptionParams: {
      SpeakerIdentification: true,
      NumberOfSpeaker: 3,
      NeedWordTimeSeries: true,
    },
    ...FEATURES,
    ...more,
  },
})

const code = ({ headers }: Answer) => Number(headers['x-api-status-code'])
const submit = (address: string, more: object = {}) =>
  sim.post(SUBMIT, KEYS.minutes, body(address, more))
const query = (id: unknown) => sim.post(QUERY, KEYS.minutes, { TaskID: id })

async function ended(address: string): Promise<Answer> {
  const { json } = await submit(address)
  return untilValue(
    () => query(json.Data?.TaskID),
    (seen) => code(seen) !== 20000001 && code(seen) !== 20000002,
  )
}

async function document(address: unknown): Promise<Json> {
  return JSON.parse(await (await fetch(String(address))).text())
}

test('from the queue to files for every feature, billed by the seconds of the recording', async () => {
  const made = await submit(`${sim.url}/media/samples/speech.wav?seconds=25&x=[[call:m-1]]`)
  assert.equal(code(made), 20000000)
  const id = made.json.Data?.TaskID
  assert.match(String(id), /^\d{19}$/)
  const codes = new Set<number>()
  const { json } = await untilValue(
    () => query(id),
    (seen) => {
      codes.add(code(seen))
      return code(seen) === 20000000
    },
  )
  assert.ok([...codes].every((one) => [20000000, 20000001, 20000002].includes(one)))
  assert.equal(json.Data?.Status, 'success')
  const files: Json = json.Data?.Result ?? {}
  const sentences = list(await document(files.AudioTranscriptionFile))
  assert.equal(sentences.length, 3)
  assert.equal(Number(sentences.at(-1)?.end_time), 25_000)
  assert.deepEqual(
    sentences.map(({ speaker }) => speaker?.id),
    ['1', '2', '3'],
  )
  assert.ok(list(sentences[0]?.words).length > 0)
  assert.ok((await document(files.SummarizationFile)).paragraph)
  assert.equal(list((await document(files.ChapterFile)).chapter_summary).length, 1)
  const extraction = await document(files.InformationExtractionFile)
  assert.equal(list(extraction.todo_list).length + list(extraction.question_answer).length, 2)
  const [translated] = list(await document(files.TranslationFile))
  assert.equal(translated?.translation_content, '这是录音的第1句话。')
  assert.deepEqual(sim.running.book.entries({ marker: 'm-1' })[0]?.units, { second: 25 })
})

test('only the files of what was switched on', async () => {
  const off = { InformationExtractionEnabled: false, TranslationEnable: false }
  const { json } = await submit('https://a.example/a.mp3?[[fault:polls=1]]', off)
  const done = await query(json.Data?.TaskID)
  assert.deepEqual(Object.keys(done.json.Data?.Result ?? {}), [
    'AudioTranscriptionFile',
    'SummarizationFile',
    'ChapterFile',
  ])
})

describe('refused at once, in a header', () => {
  const none = {
    SummarizationEnabled: false,
    ChapterEnabled: false,
    InformationExtractionEnabled: false,
    TranslationEnable: false,
  }
  const cases: [string, string, object][] = [
    ['an address', 'ftp://a/a.mp3', {}],
    ['no feature at all', 'https://a.example/a.mp3', none],
    ['no feature but the package', 'https://a.example/a.mp3', { ...none, AllActivate: true }],
    ['a language', 'https://a.example/a.mp3', { SourceLang: 'en' }],
    ['no transcription', 'https://a.example/a.mp3', { AudioTranscriptionEnable: false }],
    ['a feature without types', 'https://a.example/a.mp3', { SummarizationParams: {} }],
  ]
  for (const [name, address, more] of cases) {
    test(name, async () => {
      const refused = await submit(address, more)
      assert.deepEqual([refused.status, code(refused)], [200, 45000001])
    })
  }
  test('a resource of another product', async () => {
    const { status, json } = await sim.post(SUBMIT, KEYS.recognition, body('https://a/a.mp3'))
    assert.equal(status, 403)
    assert.equal(json.header?.code, 45000030)
  })
})

describe('failures later', () => {
  const cases: [string, string, number][] = [
    ['a file that is not there', '/media/none/a.mp3', 4811],
    ['a recording of nothing', '/media/samples/speech.wav?seconds=0', 4801],
    ['too long', '/media/samples/speech.wav?[[fault:media-seconds=7201]]', 4807],
    ['not a recording', '/sim', 4808],
  ]
  for (const [name, path, expected] of cases) {
    test(name, async () => {
      const { json } = await ended(sim.url + path)
      assert.equal(json.Data?.Status, 'failed')
      assert.equal(json.Data?.ErrCode, expected)
      assert.equal(sim.running.book.entries().at(-1)?.billed, false)
    })
  }
  test('silence stands in the header', async () => {
    const seen = await ended(`${sim.url}/media/samples/silence.wav`)
    assert.equal(code(seen), 20000003)
  })
})
