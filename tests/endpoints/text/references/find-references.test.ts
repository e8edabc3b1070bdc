/** What a request names of the vendor's storage is found wherever it is; what it owns never. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findReferences } from '../../../../server/api/endpoints/text/references/find-references.ts'
import { BY_ID, OPAQUE } from '../../../../server/api/endpoints/text/references/stored-names.ts'

const fieldsOf = (value: object, hasItems = true) =>
  findReferences(value as never, { hasItems }).references.map(({ field }) => field)

/** Each names something stored, by a field. */
const NAMED: readonly (readonly [object, string])[] = [
  [{ input: [{ type: 'item_reference', id: 'm' }] }, 'input[0].id'],
  [{ input: [{ type: 'item_reference', id: 'm', content: 'x' }] }, 'input[0].id'],
  [{ input: [{ id: 'm' }] }, 'input[0].id'],
  [{ input: [{ id: 'm', content: 'x' }] }, 'input[0].id'],
  [{ input: [{ type: null, id: 'm' }] }, 'input[0].id'],
  [{ input: [{ type: 'message', role: 'assistant', id: 'm' }] }, 'input[0].id'],
  [{ input: [{ type: 'message', role: 'user', id: 'm', content: null }] }, 'input[0].id'],
  [{ input: [{ type: 'reasoning', id: 'r', summary: [] }] }, 'input[0].id'],
  [{ input: [{ type: 'reasoning', id: 'r', summary: ['a'], content: null }] }, 'input[0].id'],
  [{ input: [{ type: 'function_call', id: 'f', call_id: 'c', name: 'f' }] }, 'input[0].id'],
  [{ input: [{ type: 'function_call_output', id: 'f', call_id: 'c' }] }, 'input[0].id'],
  [{ input: [{ type: 'web_search_call', id: 'w', status: 'completed' }] }, 'input[0].id'],
  [{ input: [{ type: 'image_generation_call', id: 'i', result: null }] }, 'input[0].id'],
  [{ input: [{ type: 'compaction', id: 'c' }] }, 'input[0].id'],
  [{ input: [{ type: 'of_next_year', id: 'c' }] }, 'input[0].id'],
  [{ input: [{ type: 'of_next_year', id: 5 }] }, 'input[0].id'],
  [
    { input: [{ type: 'message', role: 'user', content: [{ file_id: 'f' }] }] },
    'input[0].content[0].file_id',
  ],
  [
    { input: [{ role: 'user', content: [{ type: 'x', y: { z: [{ file_id: 'f' }] } }] }] },
    'input[0].content[0].y.z[0].file_id',
  ],
  [{ input: [{ role: 'user', content: [{ File_ID: 'f' }] }] }, 'input[0].content[0].File_ID'],
  [
    { input: [{ type: 'function_call_output', output: [{ file_id: 'f' }] }] },
    'input[0].output[0].file_id',
  ],
  [
    { input: [{ type: 'computer_call_output', output: { file_id: 'f' } }] },
    'input[0].output.file_id',
  ],
  [
    { input: [{ type: 'code_interpreter_call', code: '', container_id: 'c' }] },
    'input[0].container_id',
  ],
  [
    { input: [{ type: 'shell_call', action: {}, environment: { container_id: 'c' } }] },
    'input[0].environment.container_id',
  ],
  [
    { input: [{ role: 'user', content: [{ image_url: 'gs://bucket/a.png' }] }] },
    'input[0].content[0].image_url',
  ],
  [{ conversation: 'conv_1' }, 'conversation'],
  [{ conversation: { id: 'conv_1' } }, 'conversation.id'],
  [{ conversation: 5 }, 'conversation'],
  [{ prompt: { id: 'pmpt_1', variables: {} } }, 'prompt.id'],
  [
    { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
    'tools[0].vector_store_ids[0]',
  ],
  [{ tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }, 'tools[0].container'],
  [
    { tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['f'] } }] },
    'tools[0].container.file_ids[0]',
  ],
  [
    { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'c' } }] },
    'tools[0].environment.container_id',
  ],
  [
    {
      tools: [
        {
          type: 'shell',
          environment: { skills: [{ type: 'skill_reference', skill_id: 'skill_01' }] },
        },
      ],
    },
    'tools[0].environment.skills[0].skill_id',
  ],
  [
    { tools: [{ type: 'image_generation', input_image_mask: { file_id: 'f' } }] },
    'tools[0].input_image_mask.file_id',
  ],
  [
    { tools: [{ type: 'namespace', tools: [{ type: 'file_search', vector_store_ids: ['v'] }] }] },
    'tools[0].tools[0].vector_store_ids[0]',
  ],
  [
    { tools: [{ type: 'knowledge_search', knowledge_resource_id: 'k' }] },
    'tools[0].knowledge_resource_id',
  ],
  [
    { extra_body: { google: { cached_content: 'cachedContents/1' } } },
    'extra_body.google.cached_content',
  ],
]
const OF_OTHERS: readonly (readonly [object, string])[] = [
  [
    { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
    'messages[0].content[0].file.file_id',
  ],
  [{ messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }, 'messages[0].audio.id'],
  [{ audio: { voice: { id: 'voice_1' }, format: 'mp3' } }, 'audio.voice.id'],
  [{ messages: [{ role: 'system', content: 'fileid://file-1,file-2' }] }, 'messages[0].content'],
  [
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'fileid://f' }] }] },
    'messages[0].content[0].text',
  ],
  [
    { messages: [{ role: 'user', content: [{ video_url: { url: 'ms://f' } }] }] },
    'messages[0].content[0].video_url.url',
  ],
  [
    { messages: [{ role: 'user', content: 'x', attachments: [{ file_id: 'f' }] }] },
    'messages[0].attachments[0].file_id',
  ],
  [
    {
      messages: [
        { role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] },
      ],
    },
    'messages[0].content[0].source.file_id',
  ],
  [
    { messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'f' }] }] },
    'messages[0].content[0].file_id',
  ],
  [
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'tool_result', content: [{ type: 'image', source: { file_id: 'f' } }] },
          ],
        },
      ],
    },
    'messages[0].content[0].content[0].source.file_id',
  ],
  [
    { system: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] },
    'system[0].source.file_id',
  ],
  [{ container: 'container_1' }, 'container'],
  [
    { container: { id: 'container_1', skills: [{ type: 'custom', skill_id: 'skill_01' }] } },
    'container.id',
  ],
  [
    { container: { skills: [{ type: 'custom', skill_id: 'skill_01' }] } },
    'container.skills[0].skill_id',
  ],
  [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
  [{ messages: [{ role: 'system', content: ' FileID://f' }] }, 'messages[0].content'],
  [{ input: 'fileid://f' }, 'input'],
  [{ instructions: 'fileid://f', input: 'a' }, 'instructions'],
  [{ system: 'fileid://f' }, 'system'],
  [{ input: `${' '.repeat(200)}fileid://f` }, 'input'],
  ...['file:/etc/a', `${' '.repeat(200)}ms://f`, `file-1a${' '.repeat(200)}`, 'asset-1'].map(
    (url) => [{ image: [url] }, 'image[0]'] as const,
  ),
  ...['file:/etc/a', 'asset:f', ' ms://f', 'file-1a', 'asset-1', 'FILE_2'].map(
    (url) => [{ content: [{ image_url: { url } }] }, 'content[0].image_url.url'] as const,
  ),
  [{ content: [{ type: 'file', file: 'f' }] }, 'content[0].file'],
  [{ content: [{ type: 'input_file', file: { id: 'f' } }] }, 'content[0].file.id'],
  [{ files: ['f'] }, 'files[0]'],
  [{ files: [{ id: 'f' }] }, 'files[0].id'],
  [{ input_file_id: 'f' }, 'input_file_id'],
  [{ tools: [{ type: 'file_search', vectorStoreIds: ['v'] }] }, 'tools[0].vectorStoreIds[0]'],
  [{ tools: [{ collections: [{ id: 'c' }] }] }, 'tools[0].collections[0].id'],
  [{ thread: { id: 't' }, assistant: { id: 'a' } }, 'thread.id'],
]

test('each is found, by its field', () => {
  for (const [value, field] of NAMED) assert.deepEqual(fieldsOf(value).slice(0, 1), [field])
  for (const [value, field] of OF_OTHERS) assert.deepEqual(fieldsOf(value, false)[0], field)
})

/** What callers and models own, however it is called. */
const OWNED: readonly object[] = [
  { input: 'file_id: file-1' },
  { prompt: 'a text', audio: { voice: 'alloy', format: 'mp3' } },
  { metadata: { conversation_id: 'c', file_id: 'f' }, client_metadata: { container: 'c' } },
  { tools: [{ type: 'function', function: { parameters: { properties: { file_id: {} } } } }] },
  { tools: [{ name: 'f', input_schema: { properties: { container: { type: 'string' } } } }] },
  { tools: [{ name: 'f', input_examples: [{ file_id: 'f' }] }] },
  { text: { format: { type: 'json_schema', schema: { properties: { conversation: {} } } } } },
  { response_format: { json_schema: { schema: { file_id: { type: 'string' } } } } },
  { messages: [{ role: 'assistant', content: [{ type: 'tool_use', input: { file_id: 'f' } }] }] },
  {
    messages: [{ role: 'assistant', tool_calls: [{ function: { arguments: '{"file_id":"f"}' } }] }],
  },
  {
    messages: [
      {
        role: 'assistant',
        content: [
          { type: 'code_execution_tool_result', content: { content: [{ file_id: 'file_1' }] } },
        ],
      },
    ],
  },
  {
    input: [
      { role: 'assistant', content: [{ type: 'output_text', annotations: [{ file_id: 'f' }] }] },
    ],
  },
  { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{"file_id":"f"}' }] },
  { input: [{ role: 'user', content: [{ image_url: 'https://a.example/b.png' }] }] },
  { input: [{ role: 'user', content: [{ image_url: 'data:image/png;base64,AAAA' }] }] },
  { messages: [{ content: [{ image_url: { url: `iVBORw0KGgo${'A'.repeat(200)}` } }] }] },
  { messages: [{ content: [{ file: { filename: 'a.pdf', file_data: 'JVBERi0' } }] }] },
  { messages: [{ role: 'user', content: 'what is fileid://a ?' }], thread: 'a', assistant: 'b' },
  { container: { skills: [{ type: 'anthropic', skill_id: 'pptx' }] } },
  { tools: [{ type: 'code_interpreter', container: { type: 'auto', memory_limit: '4g' } }] },
  { conversation: null, container: null, tools: [{ vector_store_ids: [] }] },
]

test('what is the caller’s or the model’s own is none', () => {
  for (const value of OWNED) {
    for (const hasItems of [true, false]) {
      assert.deepEqual(fieldsOf(value, hasItems), [], JSON.stringify(value))
    }
  }
})

const plainName = fc
  .constantFrom('content', 'x', 'extra', 'parts', 'source', 'tool', 'a b', '')
  .filter((name) => !OPAQUE.has(name))

test('a name that refers is found at any depth, in any letter case', () => {
  const names = fc.constantFrom(...BY_ID).chain((name) =>
    fc.array(fc.boolean(), { minLength: name.length, maxLength: name.length }).map((upper) => {
      return [...name].map((one, at) => (upper[at] ? one.toUpperCase() : one)).join('')
    }),
  )
  const ids = fc.oneof(
    fc.string().map((text) => `${text}_1`),
    fc.integer(),
    fc.boolean(),
  )
  const paths = fc.array(fc.oneof(plainName, fc.nat(2)), { maxLength: 12 })
  fc.assert(
    fc.property(names, ids, paths, fc.boolean(), (name, id, path, isList) => {
      let value: object = { [name]: isList ? [id] : id }
      for (const step of path) {
        value = typeof step === 'number' ? [...Array(step).fill('a'), value] : { [step]: value }
      }
      assert.equal(fieldsOf({ messages: [value] }, false).length, 1)
    }),
    { numRuns: 2_000 },
  )
})

test('items with content of their own keep their ids apart', () => {
  const input = [
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
    { type: 'message', role: 'assistant', id: 'msg_1', content: [{ text: 'a' }] },
    { type: 'message', role: 'assistant', id: 'msg_2', content: [] },
    { type: 'function_call', id: 7, arguments: '{}' },
    { type: 'apply_patch_call_output', id: 'a', call_id: 'c', status: 'completed' },
    { role: 'user', content: 'no id' },
  ]
  const found = findReferences({ input }, { hasItems: true })
  assert.deepEqual(found.references, [])
  assert.deepEqual(found.identified, [
    { position: 0, id: 'rs_1', isEmpty: false },
    { position: 1, id: 'msg_1', isEmpty: false },
    { position: 2, id: 'msg_2', isEmpty: true },
    { position: 3, isEmpty: false },
    { position: 4, id: 'a', isEmpty: false },
  ])
})
