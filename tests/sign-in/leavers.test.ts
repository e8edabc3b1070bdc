/** People who leave, or are locked out, leave nothing behind that acts for them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { changeMember, setDisabled } from '../../server/api/sign-in/people/people.ts'
import { accountsFile } from '../../server/money/accounts/account-file.ts'
import { applyAccounts } from '../../server/money/accounts/apply-accounts.ts'
import { exportAccounts } from '../../server/money/accounts/export-accounts.ts'
import { lockKeyHolder } from '../../server/money/accounts/key-holder-store.ts'
import { type ConsoleUnderTest, startConsole } from './support.ts'

let console: ConsoleUnderTest
before(async () => {
  console = await startConsole()
})
after(() => console.stop())

/** An account with two owners, of whom the second has invited somebody and plays. */
async function house() {
  const accountId = await console.account()
  const [first, second] = [await console.person(), await console.person()]
  for (const { id } of [first, second]) await console.join(id, accountId, 'owner')
  const browser = await console.signedIn(second.email)
  const path = `/accounts/${accountId}`
  const invite = async (by = browser, name = 'x') => {
    const body = { email: `${name}-${accountId}@example.com`, role: 'owner' }
    const { json } = await by.send('POST', `${path}/invitations`, body)
    return new URLSearchParams(new URL(json.link).hash.slice(1)).get('token')
  }
  const play = async (by = browser) =>
    (await by.send('POST', `${path}/playground-key`)).json.key_id as string
  const other = await console.signedIn(first.email)
  return { accountId, second, token: await invite(), key: await play(), other, invite, play }
}

async function status(token: string | null): Promise<number> {
  return (await console.browser().send('POST', '/session/invitation/view', { token })).status
}

async function isOver(key: string): Promise<boolean> {
  const [row] = await console.sql`select disabled_at from api_key where id = ${key}`
  return row?.disabled_at !== null
}

test('a removed or disabled owner takes invitations and playground keys along', async () => {
  for (const leave of ['removed', 'disabled'] as const) {
    const { accountId, second, token, key, other, invite, play } = await house()
    const [theirs, theirKey] = [await invite(other, 'y'), await play(other)]
    assert.deepEqual([await status(token), await isOver(key)], [200, false])
    if (leave === 'removed') await changeMember(console.sql, accountId, second.id, 'none')
    else await setDisabled(console.sql, second.id, true)
    assert.deepEqual([await status(token), await isOver(key)], [404, true], leave)
    assert.deepEqual([await status(theirs), await isOver(theirKey)], [200, false])
    if (leave === 'disabled') await setDisabled(console.sql, second.id, false)
    else await console.join(second.id, accountId, 'owner')
    assert.deepEqual([await status(token), await isOver(key)], [404, true], 'for good')
  }
})

test('an owner who becomes a developer keeps the key and loses the invitations', async () => {
  const { accountId, second, token, key } = await house()
  await changeMember(console.sql, accountId, second.id, 'developer')
  assert.deepEqual([await status(token), await isOver(key)], [404, false])
})

test('an invitation that was written while its owner left is void as well', async () => {
  const { accountId, second, token } = await house()
  await console.sql`delete from membership where account_id = ${accountId}
    and person_id = ${second.id}`
  assert.equal(await status(token), 404)
})

test('leaving one account ends nothing in another', async () => {
  const [one, two] = [await house(), await house()]
  await console.join(one.second.id, two.accountId, 'owner')
  await changeMember(console.sql, two.accountId, one.second.id, 'none')
  assert.deepEqual([await status(one.token), await isOver(one.key)], [200, false])
})

/** An account with an owner and a developer, who has a key of their own beside the account's. */
async function team() {
  const accountId = await console.account()
  const [owner, developer] = [await console.person(), await console.person()]
  await console.join(owner.id, accountId, 'owner')
  await console.join(developer.id, accountId, 'developer')
  const path = `/accounts/${accountId}/keys`
  const [asOwner, asDeveloper] = [
    await console.signedIn(owner.email),
    await console.signedIn(developer.email),
  ]
  const create = async (by = asDeveloper, body: object = {}) =>
    (await by.send('POST', path, body)).json
  const own = await create()
  return { accountId, owner, developer, path, asOwner, asDeveloper, create, own }
}

test('a key belongs to the account or to a person, and a developer has none but their own', async () => {
  const { owner, developer, path, asOwner, asDeveloper, create, own } = await team()
  assert.equal(own.member.user_id, developer.id)
  const shared = await create(asOwner)
  assert.deepEqual([shared.member, shared.created_by.user_id], [null, owner.id])
  const given = await create(asOwner, { member: developer.id })
  assert.equal(given.member.email, developer.email)
  for (const [method, rest, status] of [
    ['PATCH', '', 200],
    ['POST', '/rotate', 200],
    ['POST', '/disable', 200],
    ['POST', '/enable', 403],
  ] as const) {
    const of = (id: string) => asDeveloper.send(method, `${path}/${id}${rest}`, {})
    assert.equal((await of(own.id)).status, status, rest)
    assert.equal((await of(shared.id)).status, 403, rest)
  }
  for (const member of [owner.id, null]) {
    assert.equal((await asDeveloper.send('POST', path, { member })).status, 403)
    assert.equal((await asDeveloper.send('PATCH', `${path}/${given.id}`, { member })).status, 403)
  }
  const stranger = await console.person()
  assert.equal((await asOwner.send('POST', path, { member: stranger.id })).status, 400)
  const freed = await asOwner.send('PATCH', `${path}/${given.id}`, { member: null })
  assert.equal(freed.json.member, null)
})

test('a person’s keys end with the membership, a lock-out, and a role without keys', async () => {
  for (const leave of ['removed', 'disabled', 'viewer', 'billing'] as const) {
    const { accountId, developer, path, asOwner, asDeveloper, create, own } = await team()
    const shared = await create(asOwner)
    const { json: rotated } = await asDeveloper.send('POST', `${path}/${own.id}/rotate`, {})
    const play = (await asDeveloper.send('POST', `/accounts/${accountId}/playground-key`)).json
    const { sql } = console
    if (leave === 'disabled') await setDisabled(sql, developer.id, true)
    else await changeMember(sql, accountId, developer.id, leave === 'removed' ? 'none' : leave)
    const ended = async () => [
      await isOver(own.id),
      await isOver(rotated.id),
      await isOver(play.key_id),
      await isOver(shared.id),
    ]
    assert.deepEqual(await ended(), [true, true, true, false], leave)
    assert.equal((await asOwner.send('POST', `${path}/${own.id}/enable`)).status, 409, leave)
    if (leave === 'disabled') await setDisabled(sql, developer.id, false)
    else await console.join(developer.id, accountId, 'developer')
    assert.deepEqual(await ended(), [true, true, true, false], 'for good')
  }
})

test('a removed person is signed out, and an invitation does not lead them back', async () => {
  const { accountId, developer, asOwner, asDeveloper } = await team()
  const body = { email: developer.email.toUpperCase(), role: 'owner' }
  await asOwner.send('POST', `/accounts/${accountId}/invitations`, body)
  await asOwner.send('DELETE', `/accounts/${accountId}/members/${developer.id}`)
  assert.equal((await asDeveloper.send('GET', '/session')).status, 401)
  const open = await asOwner.send('GET', `/accounts/${accountId}/invitations`)
  assert.deepEqual(open.json.data, [])
})

test('a key that is created while its person leaves ends too', async () => {
  const { accountId, developer } = await team()
  const { sql } = console
  const leaving = Promise.withResolvers<void>()
  await sql.begin(async (transaction) => {
    await lockKeyHolder(transaction, accountId, developer.id)
    changeMember(sql, accountId, developer.id, 'none').then(leaving.resolve, leaving.reject)
    await transaction`
      insert into api_key (id, account_id, hash, display, person_id)
      values ('key_late', ${accountId}, 'late', 'tr-…', ${developer.id})`
  })
  await leaving.promise
  assert.equal(await isOver('key_late'), true)
  await assert.rejects(
    sql.begin((transaction) => lockKeyHolder(transaction, accountId, developer.id)),
    /no member/,
  )
})

test('a configuration file from before does not bring a leaver’s key back', async () => {
  const { accountId, developer, own } = await team()
  const { sql } = console
  const [entry] = (await exportAccounts(sql)).filter((one) => 'id' in one && one.id === accountId)
  const before = accountsFile.parse([entry])
  await changeMember(sql, accountId, developer.id, 'none')
  const changes = await sql.begin((transaction) => applyAccounts(transaction, before))
  assert.deepEqual([changes.filter(({ id }) => id === own.id), await isOver(own.id)], [[], true])
})

test('an invitation gives a role, and never takes an owner’s', async () => {
  const { accountId, owner, developer, asOwner, asDeveloper, own } = await team()
  const accept = async (email: string, by: typeof asOwner) => {
    const invitation = { email, role: 'viewer' }
    const path = `/accounts/${accountId}/invitations`
    const { json } = await asOwner.send('POST', path, invitation)
    const token = new URLSearchParams(new URL(json.link).hash.slice(1)).get('token')
    assert.equal((await by.send('POST', '/session/invitation', { token })).status, 200)
    return (await by.send('GET', '/session')).json.memberships[0].role
  }
  assert.equal(await accept(owner.email, asOwner), 'owner')
  assert.equal(await accept(developer.email, asDeveloper), 'viewer')
  assert.equal(await isOver(own.id), true)
})

test('the version before sees owners and members, and what it writes is a role', async () => {
  const { accountId, developer, asOwner } = await team()
  const { sql } = console
  await changeMember(sql, accountId, developer.id, 'billing')
  const [row] = await sql`select role from membership where person_id = ${developer.id}`
  assert.equal(row?.role, 'member')
  await sql`update membership set role = 'owner' where person_id = ${developer.id}`
  const role = async () => {
    const { json } = await asOwner.send('GET', `/accounts/${accountId}/members`)
    return json.data.find(({ id }: { id: string }) => id === developer.id).role
  }
  assert.equal(await role(), 'owner')
  const fresh = await console.person()
  await sql`
    insert into membership (person_id, account_id, role)
    values (${fresh.id}, ${accountId}, 'member')`
  const { json } = await asOwner.send('GET', `/accounts/${accountId}/members`)
  assert.equal(json.data.find(({ id }: { id: string }) => id === fresh.id).role, 'developer')
})
