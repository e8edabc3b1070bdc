import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setDisabled } from '../../server/api/sign-in/people/people.ts'
import { type ConsoleUnderTest, startConsole } from './support.ts'

describe('members of an account', () => {
  let console: ConsoleUnderTest
  before(async () => {
    console = await startConsole()
  })
  after(() => console.stop())

  async function house() {
    const accountId = await console.account()
    const [owner, member] = [await console.person(), await console.person()]
    await console.join(owner.id, accountId, 'owner')
    await console.join(member.id, accountId, 'developer')
    return {
      accountId,
      owner,
      member,
      path: `/accounts/${accountId}/members`,
      ownerBrowser: await console.signedIn(owner.email),
      memberBrowser: await console.signedIn(member.email),
    }
  }

  test('are seen by members and changed by owners', async () => {
    const { path, owner, member, ownerBrowser, memberBrowser } = await house()
    const { json } = await memberBrowser.send('GET', path)
    assert.deepEqual(
      json.data.map((one: { id: string; role: string }) => [one.id, one.role]),
      [
        [owner.id, 'owner'],
        [member.id, 'developer'],
      ],
    )
    const raise = { role: 'owner' }
    const own = await memberBrowser.send('PATCH', `${path}/${member.id}`, raise)
    assert.equal(own.status, 403)
    assert.equal((await ownerBrowser.send('PATCH', `${path}/${member.id}`, raise)).status, 204)
    assert.equal((await memberBrowser.send('GET', '/session')).json.memberships[0].role, 'owner')
    assert.equal((await memberBrowser.send('DELETE', `${path}/${owner.id}`)).status, 204)
    assert.equal((await ownerBrowser.send('GET', path)).status, 401)
    const again = await console.signedIn(owner.email)
    assert.equal((await again.send('GET', path)).status, 404)
  })

  test('other users cannot tell an account from an unknown one', async () => {
    const { path } = await house()
    const { ownerBrowser } = await house()
    const foreign = await ownerBrowser.send('GET', path)
    const missing = await ownerBrowser.send('GET', '/accounts/acct_none/members')
    assert.deepEqual([foreign.status, foreign.json], [missing.status, missing.json])
    assert.equal(foreign.status, 404)
  })

  test('the last owner stays, also when two leave at once', async () => {
    const { path, owner, member, ownerBrowser, memberBrowser } = await house()
    assert.equal((await ownerBrowser.send('DELETE', `${path}/${owner.id}`)).status, 409)
    const lower = { role: 'member' }
    assert.equal((await ownerBrowser.send('PATCH', `${path}/${owner.id}`, lower)).status, 409)
    await ownerBrowser.send('PATCH', `${path}/${member.id}`, { role: 'owner' })
    const both = await Promise.all([
      ownerBrowser.send('DELETE', `${path}/${owner.id}`),
      memberBrowser.send('DELETE', `${path}/${member.id}`),
    ])
    assert.deepEqual(both.map(({ status }) => status).sort(), [204, 409])
  })

  test('an owner who is locked out does not count as the last one', async () => {
    const { path, owner, member, ownerBrowser } = await house()
    await ownerBrowser.send('PATCH', `${path}/${member.id}`, { role: 'owner' })
    await setDisabled(console.sql, member.id, true)
    assert.equal((await ownerBrowser.send('DELETE', `${path}/${owner.id}`)).status, 409)
    assert.equal((await ownerBrowser.send('DELETE', `${path}/${member.id}`)).status, 204)
  })

  test('a profile is changed by its person', async () => {
    const { ownerBrowser } = await house()
    const change = { name: '李雷', language: 'zh' }
    assert.equal((await ownerBrowser.send('PATCH', '/profile', change)).status, 204)
    const { json } = await ownerBrowser.send('GET', '/session')
    assert.deepEqual([json.user.name, json.user.language], ['李雷', 'zh'])
    assert.equal((await ownerBrowser.send('PATCH', '/profile', { operator: true })).status, 204)
    assert.equal((await ownerBrowser.send('GET', '/session')).json.user.operator, false)
  })

  test('operators get 404 for an unknown account', async () => {
    const operator = await console.person({ isOperator: true })
    const browser = await console.signedIn(operator.email)
    await console.sql`insert into passkey (id, person_id, name, credential_id, public_key)
      values ('pky_m', ${operator.id}, 'm', 'm', 'm')`
    const { accountId } = await house()
    const body = { email: 'x@example.com', role: 'member' }
    const send = (id: string, method: string, path: string, given?: object) =>
      browser.send(method, `/accounts/${id}/${path}`, given)
    assert.equal((await send('acct_none', 'GET', 'members')).status, 404)
    assert.equal((await send('acct_none', 'POST', 'invitations', body)).status, 404)
    assert.equal((await send(accountId, 'GET', 'members')).status, 200)
    assert.equal((await send(accountId, 'POST', 'invitations', body)).status, 200)
  })

  test('operators can list everybody, page by page', async () => {
    const operator = await console.person({ isOperator: true })
    const browser = await console.signedIn(operator.email)
    const seen: string[] = []
    let cursor = ''
    for (let pages = 0; pages < 50; pages += 1) {
      const { json } = await browser.send('GET', `/operator/users?limit=3${cursor}`)
      seen.push(...json.data.map((one: { id: string }) => one.id))
      if (json.next_cursor === null) break
      cursor = `&cursor=${json.next_cursor}`
    }
    const [all] = await console.sql<{ count: number }[]>`select count(*)::int as count from person`
    assert.deepEqual([seen.length, new Set(seen).size], [all?.count, all?.count])
    assert.equal(seen[0], operator.id)
    const find = async (text: string) =>
      (await browser.send('GET', `/operator/users?search=${encodeURIComponent(text)}`)).json.data
    const found = await find(operator.email.toUpperCase())
    assert.deepEqual([found.length, found[0].id], [1, operator.id])
    assert.deepEqual(await find('%'), [])
  })
})
