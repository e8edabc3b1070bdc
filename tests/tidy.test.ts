/**
 * The rules of the code base that can be checked by reading it. A rule that is only written
 * down is forgotten; one that fails is followed. The rules as data: tests/tidy/rules.ts.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MUTATIONS } from '../proofs/prices/mutations/mutation-list.ts'
import { chatQuirks } from '../server/wire/dialects/chat/quirks.ts'
import { checkCitations, checkForeign, readPassages } from './tidy/check-citations.ts'
import {
  checkForbiddenText,
  checkHabits,
  checkHeaders,
  checkPurity,
  checkSql,
  checkWords,
} from './tidy/check-code.ts'
import { checkDecisions, checkFolderReadmes, checkLinks } from './tidy/check-docs.ts'
import { checkEndpointTests } from './tidy/check-endpoints.ts'
import { checkGlossary, checkParticiples } from './tidy/check-glossary.ts'
import { checkClients, checkImports, checkPackages } from './tidy/check-imports.ts'
import { checkManifest, countProductionPackages } from './tidy/check-manifest.ts'
import {
  checkFunctionFiles,
  checkMigratedFunctions,
  checkMigrations,
} from './tidy/check-migrations.ts'
import { checkLists, checkUniqueNames } from './tidy/check-names.ts'
import { checkOpenings } from './tidy/check-prose.ts'
import {
  checkFolders,
  checkOrdersKnown,
  checkParts,
  checkRooms,
  checkStoreys,
  checkSubfolders,
  findCircles,
} from './tidy/check-rooms.ts'
import { checkSizes, describeSizes } from './tidy/check-sizes.ts'
import { checkWaits } from './tidy/check-waits.ts'
import { checkNormalizing, checkPatterns } from './tidy/check-work.ts'
import { findDeadExports, findDeadFiles } from './tidy/find-dead.ts'
import { listFiles, readSources, readText } from './tidy/read-tree.ts'

const paths = listFiles()
const sources = readSources(paths)
const pages = paths.filter((path) => path.endsWith('.md'))
const passages = readPassages(sources, paths)

function expectNone(offences: readonly string[], rule: string): void {
  assert.ok(offences.length === 0, `${rule}\n  ${offences.join('\n  ')}`)
}

describe('who may import whom', () => {
  test('between the parts of the tree', () => {
    expectNone(checkImports(sources), 'Imports go one way (ARCHITECTURE.md, tests/tidy/rules.ts):')
  })
  test('between the parts, in one order', () => {
    expectNone(checkParts(), 'A part imports only parts before it (MAY_IMPORT):')
  })
  test('between the storeys, of which money and wire never know each other', () => {
    expectNone(checkStoreys(paths), 'A storey knows those below it (STOREYS):')
  })
  test('between the rooms of a folder, in one order', () => {
    expectNone(checkRooms(sources), 'A room imports only rooms before it (ROOMS):')
    expectNone(checkOrdersKnown(paths), 'Write the order of the rooms down:')
  })
  test('in no circle, not even of types', () => {
    expectNone(findCircles(sources), 'Move what both need to a file below them:')
  })
  test('packages', () => {
    expectNone(checkPackages(sources), 'Each package has its place (tests/tidy/rules.ts):')
  })
  test('the network', () => {
    expectNone(checkClients(sources), 'Only the wire and outbound/ open connections:')
  })
})

describe('work in proportion to what is sent', () => {
  test('regular expressions', () => {
    expectNone(checkPatterns(sources), 'Rewrite or bound them (tests/linear/README.md says how):')
  })
  test('normalization', () => {
    expectNone(checkNormalizing(sources), 'It is quadratic: use lib/text/fold-forms.ts:')
  })
})

describe('what is allowed where', () => {
  test('no clock in dialects and adapters', () => {
    expectNone(checkPurity(sources), 'The same input must give the same output:')
  })
  test('SQL in store files', () => {
    expectNone(
      checkSql(sources),
      'SQL lives in store.ts files, server/base/database and migrations:',
    )
  })
  test('no vendor in the middle', () => {
    expectNone(checkWords(sources), 'Vendors are named in upstreams/<vendor> and the catalog:')
  })
  test('doc comments are statements', () => {
    expectNone(checkOpenings(sources), 'Say what it is or does, subject first (CONTRIBUTING.md):')
  })
  test('types, tests and comments', () => {
    expectNone(checkHabits(sources), 'Habits of this code base (CONTRIBUTING.md):')
  })
  test('no wait for a fixed time in tests', () => {
    expectNone(checkWaits(sources), 'Tests wait for a state or an event (tests/support/until.ts):')
  })
  test('one thing, one word', () => {
    const texts = paths.filter((path) => /\.(?:tsx?|mjs|sql|md)$/.test(path))
    const files = texts.filter((path) => path !== 'tests/tidy/rules.ts')
    const offences = checkGlossary(files.map((path) => ({ path, text: readText(path) })))
    expectNone(offences, 'The glossary of ARCHITECTURE.md has another word:')
    expectNone(checkParticiples(sources), 'Name a value after what it holds:')
  })
  test('one name, one thing', () => {
    expectNone(checkUniqueNames(sources), 'Exported twice, for two things (tests/tidy/rules.ts):')
  })
  test('each list of kinds and states once', () => {
    expectNone(checkLists(sources), 'Import the list (server/base/lib/kinds-and-states.ts):')
    const path = 'server/work/again.ts'
    const copies = ["['dropped', 'pending', 'delivered']", "'pending' | 'delivered' | 'dropped'"]
    for (const text of copies) assert.equal(checkLists([{ path, text }]).length, 1, text)
  })
  test('every file says why it exists', () => {
    expectNone(checkHeaders(sources), 'Begin with one to three sentences:')
  })
  test('nothing of a machine or of its tools', () => {
    const texts = paths.filter((path) => /\.(?:ts|mjs|md|json|sql|sh|css|html)$|^\.ci\//.test(path))
    const offences = texts.flatMap((path) => checkForbiddenText(path, readText(path)))
    expectNone(offences, 'The repository must read alike everywhere:')
  })
})

test('migrations: expand, then contract, numbered, never edited', () => {
  const files = paths
    .filter((path) => /^migrations\/.*\.sql$/.test(path))
    .map((path) => ({ path, text: readText(path) }))
  const offences = checkMigrations(files, readText('migrations/checksums.txt'))
  expectNone(offences, 'The schema changes by a new migration:')
  expectNone(checkMigratedFunctions(files), 'Functions stand beside their callers:')
})

test('files of functions have a new revision for each change', () => {
  const files = paths
    .filter((path) => /^server\/.*\/sql\/[^/]+\.sql$/.test(path))
    .map((path) => ({ path, text: readText(path) }))
  const offences = checkFunctionFiles(files, readText('migrations/functions.txt'))
  expectNone(offences, 'Gateways apply a file of functions by its revision:')
})

describe('sizes', () => {
  test('of folders', () => {
    expectNone(checkFolders(paths), 'A folder wants rooms by what changes together:')
    expectNone(checkSubfolders(paths), 'Give them storeys, or name their kind in PEERS:')
  })
  test('of files, functions and lines', (context) => {
    context.diagnostic(describeSizes(sources))
    const others = paths
      .filter((path) => /\.(?:sql|css|html)$/.test(path))
      .map((path) => ({ path, text: readText(path) }))
    expectNone(checkSizes(sources, others), 'Small enough to be read at once:')
  })
  test('of the production tree', (context) => {
    context.diagnostic(`${countProductionPackages()} production packages`)
    expectNone(checkManifest(), 'Dependencies are exact, checked and quiet:')
  })
})

describe('nothing dead', () => {
  test('quirks', () => {
    const readers = sources.filter(({ path }) => path.startsWith('server/wire/'))
    const text = readers.map(({ masked }) => masked.code).join('\n')
    const unread = Object.keys(chatQuirks.shape).filter(
      (name) => [...text.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length < 2,
    )
    expectNone(unread, 'A quirk has a reader (server/wire/dialects/chat/quirks.ts):')
  })
  test('files', () => {
    const manifest = readText('package.json')
    expectNone(findDeadFiles(sources, manifest), 'Reached from no entry point:')
  })
  test('exports', () => {
    expectNone(findDeadExports(sources), 'Remove it, or do not export it:')
  })
})

test('each mutation of the price proof still has a place in the code', () => {
  const lost = MUTATIONS.filter(({ file, find }) => readText(file).split(find).length !== 2)
  expectNone(
    lost.map(({ file, rule }) => `${file} does not have once what breaks "${rule}"`),
    'Follow the code in proofs/prices/mutations/mutation-list.ts:',
  )
})

describe('documentation', () => {
  test('links lead somewhere', () => {
    expectNone(checkLinks(pages), 'Dead links:')
  })
  test('files, folders and headings that comments and pages name exist', () => {
    expectNone(checkCitations(passages, paths), 'Name what is here, by its path:')
  })
  test('nothing cites papers, lists and tickets outside of the repository', () => {
    expectNone(checkForeign(passages), 'State the fact, or cite docs/protocols/:')
  })
  test('folder READMEs are short', () => {
    expectNone(checkFolderReadmes(pages), 'A folder README fits on a screen:')
  })
  test('decisions are dated and have a status', () => {
    expectNone(checkDecisions(pages), 'docs/decisions/<date>-<subject>.md:')
  })
  test('every endpoint is tested by name', () => {
    expectNone(checkEndpointTests(sources, paths), 'An endpoint without its test file:')
  })
})
