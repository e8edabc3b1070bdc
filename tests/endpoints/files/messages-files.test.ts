/** /v1/files through the messages SDK, in its current version and in an older one. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import Anthropic, { toFile } from '@anthropic-ai/sdk'
import OlderAnthropic from 'anthropic-sdk-0137'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

const CONTENT = Buffer.from('%PDF-1.7\nA river.')
const HOUR_MS = 3_600_000

let gateway: TestGateway
before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

async function openFiles(SDK: typeof Anthropic) {
  const { key } = await gateway.tenant()
  return { key, files: new SDK({ baseURL: gateway.url, apiKey: key, maxRetries: 0 }).beta.files }
}

for (const [version, SDK] of [
  ['current', Anthropic],
  ['older', OlderAnthropic as unknown as typeof Anthropic],
] as const) {
  test(`the ${version} SDK uploads, reads, lists and deletes files`, async () => {
    const { files } = await openFiles(SDK)
    const upload = (name: string) =>
      toFile(CONTENT, name, { type: 'application/pdf' }).then((file) => files.upload({ file }))
    const uploaded = await upload('river.pdf')
    const { id, type, filename, mime_type, size_bytes, downloadable } = uploaded
    assert.deepEqual(
      { type, filename, mime_type, size_bytes, downloadable },
      {
        type: 'file',
        filename: 'river.pdf',
        mime_type: 'application/pdf',
        size_bytes: CONTENT.length,
        downloadable: true,
      },
    )
    assert.match(uploaded.created_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    assert.deepEqual(await files.retrieveMetadata(id), uploaded)
    const content = await files.download(id)
    assert.deepEqual(Buffer.from(await content.arrayBuffer()), CONTENT)
    await upload('second.pdf')
    await upload('third.pdf')
    const names: string[] = []
    for await (const one of files.list({ limit: 2 })) names.push(one.filename)
    assert.deepEqual(names, ['third.pdf', 'second.pdf', 'river.pdf'])
    assert.deepEqual(await files.delete(id), { id, type: 'file_deleted' })
    await assert.rejects(() => files.retrieveMetadata(id), SDK.NotFoundError)
  })
}

test('a lifetime in the SDK’s word counts, and one beyond 30 days is refused', async () => {
  const { files } = await openFiles(Anthropic)
  const file = await toFile(CONTENT, 'river.pdf')
  const { created_at: at, expires_at: end } = await files.upload({
    file,
    expires_in_seconds: 7_200,
  })
  assert.equal(Date.parse(end ?? '') - Date.parse(at), 2 * HOUR_MS)
  const run = files.upload({ file, expires_in_seconds: 31 * 86_400 })
  await assert.rejects(() => run, /expires_in_seconds/)
})

test('a choice of files that is not known here is refused', async () => {
  const { files } = await openFiles(Anthropic)
  for (const params of [{ ids: ['file_1', 'file_2'] }, { scope_id: 'sess_1' }]) {
    await assert.rejects(async () => await files.list(params), /not supported here/)
  }
})

test('without the version of that API, a file and a page have the other form', async () => {
  const { files, key } = await openFiles(Anthropic)
  const { id } = await files.upload({ file: await toFile(CONTENT, 'river.pdf') })
  const plain = await gateway.get(`/v1/files/${id}`, key)
  assert.deepEqual([plain.json.object, plain.json.bytes], ['file', CONTENT.length])
  const { json } = await gateway.get('/v1/files', key)
  assert.deepEqual([json.object, json.data[0].id, json.next_page], ['list', id, undefined])
})
