/** People who leave, or are locked out, leave nothing behind that acts for them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { changeMember, setDisabled } from '../../server/api/sign-in/people/people.ts'
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
  const invite = async (by = browser) => {
    const body = { email: `x-${accountId}@example.com`, role: 'owner' }
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
    const [theirs, theirKey] = [await invite(other), await play(other)]
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

test('an owner who becomes a member keeps the key and loses the invitations', async () => {
  const { accountId, second, token, key } = await house()
  await changeMember(console.sql, accountId, second.id, 'member')
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
