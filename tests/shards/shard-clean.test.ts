/** Every statement names its account, but for those that docs/shard-clean.md lists. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { loadModule, parseSync } from 'libpg-query'
import { fillTemplate } from './lint/fill-template.ts'
import { findUnnamed, isOfAccounts } from './lint/find-unnamed.ts'
import { covers, readAccountless, readExceptions } from './lint/read-exceptions.ts'
import { readStatements, type Statement } from './lint/read-statements.ts'
import { readTables, type Tables } from './lint/read-tables.ts'

let tables: Tables
let statements: readonly Statement[]

before(async () => {
  await loadModule()
  tables = readTables()
  statements = readStatements()
})

describe('the statements of the house', () => {
  test('name the account, or are listed', () => {
    const exceptions = readExceptions()
    const offences = statements.flatMap(({ place, tree }) => {
      if (exceptions.some((one) => covers(one, place))) return []
      return findUnnamed(tree, tables).map((table) => `${place}: ${table} without its account`)
    })
    assert.deepEqual(offences, [], 'name the account, or list the statement in docs/shard-clean.md')
  })
  test('are listed only where they name none', () => {
    const needed = statements.filter(({ tree }) => findUnnamed(tree, tables).length > 0)
    const stale = readExceptions().filter((one) => !needed.some(({ place }) => covers(one, place)))
    assert.deepEqual(stale, [], 'remove these lines from docs/shard-clean.md')
  })
  test('are all read', () => {
    const read = statements.filter(({ tree }) => tree !== undefined).length
    assert.ok(read > 900, `${read} statements`)
  })
  test('are on tables whose place is known', () => {
    const named = readAccountless().sort()
    const found = [...tables.keys()].filter((name) => {
      return name === 'account' || !isOfAccounts(name, tables)
    })
    assert.deepEqual(named, found.sort())
  })
})

describe('a statement', () => {
  const known: Tables = new Map([
    ['hold', new Set(['id', 'account_id'])],
    ['call', new Set(['hold_id', 'account_id'])],
    ['owner', new Set(['id'])],
  ])
  const cases: ReadonlyArray<readonly [string, ...string[]]> = [
    ['select 1 from hold where account_id = $1 and id = $2'],
    ['select 1 from hold where id = $2', 'hold'],
    ['select 1 from owner where id = $1'],
    ['select 1 from hold where account_id = any ($1) and id = $2'],
    ['select 1 from hold where account_id in ($1, $2)'],
    ['select 1 from hold where account_id = $1 or id = $2', 'hold'],
    ['select 1 from hold where account_id <> $1', 'hold'],
    ['select 1 from hold where not (account_id = $1)', 'hold'],
    ['select 1 from hold h join call c on c.hold_id = h.id where h.account_id = $1', 'call'],
    ['select 1 from hold h join call c on c.account_id = h.account_id where h.account_id = $1'],
    ['select 1 from hold h join call c using (account_id) where c.account_id = $1'],
    ['select 1 from hold h join call c on c.account_id = h.account_id', 'hold', 'call'],
    ['select 1 from hold h where (h.account_id, h.id) = ($1, $2)'],
    ['select 1 from (select * from hold) h where h.account_id = $1', 'hold'],
    ['select 1 from owner o where exists (select from hold h where h.account_id = o.id)'],
    ['select 1 from owner o where exists (select from hold h where h.id = o.id)', 'hold'],
    ['with hold as (select 1 as id) select 1 from hold where id = 1'],
    ['with h as (delete from hold where id = $1 returning id) select 1 from h', 'hold'],
    ['update hold h set id = 1 from call c where c.account_id = $1 and c.hold_id = h.id', 'hold'],
    ['update hold set id = 1 where account_id = $1 and id = $2'],
    ['delete from hold h using call c where c.account_id = h.account_id', 'hold', 'call'],
    ['insert into hold (id) values (1)', 'hold'],
    ['insert into hold (id, account_id) select hold_id, account_id from call', 'call'],
    ['select 1 from hold where account_id = $1 union select 1 from hold', 'hold'],
  ]
  for (const [text, ...expected] of cases) {
    test(text, () => assert.deepEqual(findUnnamed(parseSync(text), known), expected))
  }
  test('is made of a template, whatever is put into it', () => {
    const pieces = [
      'select ',
      ' from hold where true ',
      ' and id in ',
      ' order by id ',
      ' limit ',
      '',
    ]
    assert.deepEqual(findUnnamed(fillTemplate(pieces), known), ['hold'])
  })
  test('is made of a part of one', () => {
    assert.deepEqual(
      findUnnamed(fillTemplate(['and exists (select from hold where id = ', ')']), known),
      ['hold'],
    )
    assert.equal(fillTemplate(['and id = ', '']), undefined)
  })
})
