/** Every command of the guides and the README, run as it is printed against one gateway. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { readCurrentSurface } from '../../scripts/surface/current.ts'
import { ELSEWHERE, isElsewhere } from './elsewhere.ts'
import { PREPARATIONS } from './preparations.ts'
import { ROOT, readCommands, readMentions } from './read-commands.ts'
import { type Stage, startReader } from './stage.ts'

const GUIDES = join('docs', 'guides')
const PAGES = ['README.md', ...readdirSync(join(ROOT, GUIDES)).map((name) => join(GUIDES, name))]
const commandsOf = new Map(PAGES.map((page) => [page, readCommands(page)]))
const all = [...commandsOf.values()].flat()

/** Effects beyond a success: what the reader then has. */
const OUTCOMES: Readonly<Record<string, (stage: Stage, said: string) => unknown>> = {
  'README.md': ({ home }) => assert.ok(readdirSync(home).includes('hello.mp3')),
  'keys-and-secrets.md': async ({ balance, accountId }, said) => {
    assert.match(said, /"posted":true/)
    assert.equal((await balance(accountId)).available % 1_000_000_000n, 500_000_000n)
  },
}

describe('the commands of the guides', () => {
  let stage: Stage
  before(async () => {
    stage = await startReader()
  })
  after(() => stage?.stop())

  for (const [page, commands] of commandsOf) {
    const here = commands.filter(({ place, text }) => !isElsewhere(place, text))
    if (here.length === 0) continue
    test(`${page}: ${here.length} commands work as printed`, async () => {
      stage.begin()
      const name = page.replace('docs/guides/', '')
      const values = await PREPARATIONS[name]?.(stage)
      const said: string[] = []
      for (const { place, text } of here) {
        let command = text
        for (const [name, value] of Object.entries(values ?? {})) {
          command = command.replaceAll(name, () => value)
        }
        const output = await stage.run(command).catch(({ message }) => {
          return assert.fail(`${place}\n${message}`)
        })
        said.push(output)
      }
      await OUTCOMES[name]?.(stage, said.join('\n'))
    })
  }
})

test('what is not run here is in the guides, and the script that runs it exists', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  for (const { page, begins, runBy } of ELSEWHERE) {
    const isThere = all.some(({ place, text }) => {
      return place.startsWith(`${page}:`) && text.startsWith(begins)
    })
    assert.ok(isThere, `${page} has no ${begins}`)
    if (runBy !== undefined) assert.ok(manifest.scripts[runBy], runBy)
  }
})

test('each command that is named anywhere exists with the options that are given', async () => {
  const surface = new Set((await readCurrentSurface()).map((line) => line.replace(/ VALUE$/, '')))
  const wrong = PAGES.flatMap(readMentions).filter(({ text }) => !exists(surface, text))
  assert.deepEqual(wrong, [])
})

function exists(surface: ReadonlySet<string>, text: string): boolean {
  const words = text.split(/\s+/)
  let command = 'tributary'
  for (const word of words.slice(1)) {
    if (surface.has(`${command} ${word}`) && !word.startsWith('-')) command += ` ${word}`
    else break
  }
  const options = words.filter((word) => word.startsWith('--') && word !== '--help')
  return command !== 'tributary' && options.every((one) => surface.has(`${command} ${one}`))
}
