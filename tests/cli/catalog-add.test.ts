/** `tributary catalog`: vendors that are added by name. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openCommandLine } from './support.ts'

const FOLDER = join(import.meta.dirname, '..', '..', 'catalog')

test('list names every shipped vendor with the variables of its channels', async (t) => {
  const { json } = await openCommandLine(t)
  const listed = (await json('catalog', 'list')) as { name: string; variables: string[] }[]
  const shipped = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json') && file !== 'simulators.json')
    .map((file) => file.replace('.json', ''))
  assert.deepEqual(
    listed.map(({ name }) => name),
    shipped.sort(),
  )
  const variables = new Map(listed.map((one) => [one.name, one.variables]))
  assert.deepEqual(variables.get('deepseek'), ['DEEPSEEK_API_KEY'])
  assert.deepEqual(variables.get('ollama'), [])
})

test('add applies a vendor by its name or another one, again without a change', async (t) => {
  const { run, json } = await openCommandLine(t)
  const dry = await run('catalog', 'add', 'ollama', '--dry-run')
  assert.match(dry.out, /\+ channel ollama\n[\s\S]*nothing was written/)
  const first = await run('catalog', 'add', 'kimi', 'groq')
  assert.equal(first.code, 0, first.err)
  assert.match(first.out, /\+ channel moonshot\n/)
  assert.match(first.err, /MOONSHOT_API_KEY is not set here/)
  assert.doesNotMatch(first.err, /examples/)
  const media = await run('catalog', 'add', 'replicate')
  assert.match(
    media.err,
    /prices that are examples, to be checked before you sell: google\/veo-3\.1, /,
  )
  const second = await run('catalog', 'add', 'Moonshot.json', 'groq')
  assert.deepEqual([second.code, second.out], [0, 'no changes\n'])
  const models = (await json('model', 'list')) as { id: string }[]
  assert.ok(models.some(({ id }) => id === 'openai/gpt-oss-120b'))
})

test('an unknown name is refused with the known ones, and nothing is added', async (t) => {
  const { run, json } = await openCommandLine(t)
  for (const name of ['nobody', 'simulators', '../catalog/groq', '']) {
    const { code, err } = await run('catalog', 'add', 'groq', name)
    assert.equal(code, 1, name)
    assert.match(err, /there is no vendor ".*" in the catalog; known: alibaba, /)
  }
  assert.deepEqual(await json('model', 'list'), [])
})

test('model try shows the request of each video model, without a key or a network', async (t) => {
  const { run, json } = await openCommandLine(t)
  const path = join(FOLDER, 'fal.json')
  const one = ['model', 'try', path, '--model', 'fal-ai/veo3/fast', '--body', '{"duration":8}']
  const [tried] = await json(...one)
  assert.deepEqual(
    [tried.submit.method, tried.submit.url.split('?')[0], tried.held],
    ['POST', 'https://queue.fal.run/fal-ai/veo3/fast', '1.2'],
  )
  assert.equal(tried.submit.body.duration, '8s')
  assert.match(
    (await run(...one)).out,
    /then GET https:\/\/queue\.fal\.run\/fal-ai\/veo3\/requests/,
  )
  // A callback URL goes to vendors that call back alone.
  assert.match(tried.submit.url, /fal_webhook=https/)
  const [unhooked] = await json('model', 'try', join(FOLDER, 'kling.json'))
  assert.deepEqual(Object.keys(unhooked.submit.body), ['prompt', 'settings', 'options'])
  const others = await run('model', 'try', path, '--body', '{"duration":7}')
  assert.match(others.out, /refused: duration: this model makes 4, 6 or 8 seconds/)
  for (const words of [
    ['--body', '[]'],
    ['--model', 'nobody'],
  ]) {
    assert.equal((await run('model', 'try', path, ...words)).code, 1)
  }
})
