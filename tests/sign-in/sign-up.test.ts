/** Signing up by mail: what strangers are told, who gets what, and how an operator stops it. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import fc from 'fast-check'
import type { MailLink, SignUpParts } from '../../server/api/sign-in/parts.ts'
import { mailboxOf } from '../../server/api/sign-in/people/sign-up/mailbox.ts'
import { postCredit } from '../../server/money/ledger/store.ts'
import { type Browser, type ConsoleUnderTest, PASSWORD, SIGN_UP, startConsole } from './support.ts'

type Mail = Parameters<MailLink>[1]
/** Settings that tests replace. */
const settings = { ...SIGN_UP } as { -readonly [Key in keyof SignUpParts]: SignUpParts[Key] }
const mails: Mail[] = []
let console: ConsoleUnderTest
let addresses = 0

before(async () => {
  console = await startConsole({
    signUp: settings,
    mailLink: async (_, mail) => {
      mails.push(mail)
      return true
    },
  })
})
after(() => console.stop())
beforeEach(async () => {
  Object.assign(settings, SIGN_UP)
  await console.sql`delete from throttle`
  await console.sql`update sign_up set stopped_at = null, created_at = now() - interval '2 days'`
})

const newAddress = () => {
  addresses += 1
  return `ada${addresses}@acme.example`
}

async function ask(email: string): Promise<string> {
  const answer = await console.browser().send('POST', '/session/sign-up', { email })
  assert.equal(answer.status, 204)
  const mail = mails.at(-1)
  assert.equal(mail?.address, email)
  return new URL(mail?.link ?? '').hash.replace('#token=', '')
}

const finish = (browser: Browser, token: string, more: object = {}) =>
  browser.send('POST', '/session/sign-up/finish', {
    token,
    name: 'Ada',
    password: PASSWORD,
    ...more,
  })

const grantsOf = async () => {
  const [row] = await console.sql<{ grants: number; amount: string }[]>`
    select count(*)::int as grants, coalesce(sum(c.amount), 0)::text as amount
    from sign_up s join credit c on c.account_id = s.account_id
    where s.granted > 0 and s.created_at > now() - interval '1 day'`
  return row
}

/** Signs all of them up at once. */
async function signUpAtOnce(emails: readonly string[]) {
  const tokens: string[] = []
  for (const email of emails) {
    await console.sql`delete from throttle`
    tokens.push(await ask(email))
  }
  const answers = await Promise.all(tokens.map((token) => finish(console.browser(), token)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    emails.map(() => 200),
  )
}

describe('a confirmed address', () => {
  test('opens an account with the grant, once', async () => {
    const email = newAddress()
    const token = await ask(email)
    const browser = console.browser()
    const view = await browser.send('POST', '/session/sign-up/view', { token })
    assert.deepEqual([view.status, view.json.email, view.json.known], [200, email, false])
    assert.equal((await finish(browser, token)).status, 200)
    const { user, memberships } = (await browser.send('GET', '/session')).json
    assert.deepEqual([user.email, user.operator, memberships[0]?.role], [email, false, 'owner'])
    const [row] = await console.sql`
      select c.kind, c.amount, c.actor, b.available, b.currency, s.network, s.provider_id
      from sign_up s join credit c using (account_id) join balance b using (account_id)
      where s.person_id = ${user.id}`
    const credited = { kind: 'promotion', amount: 5_000_000_000n, actor: 'sign-up' }
    const balance = { available: 5_000_000_000n, currency: 'USD' }
    assert.deepEqual(
      { ...row },
      { ...credited, ...balance, network: '127.0.0.1', provider_id: null },
    )
    assert.equal((await finish(console.browser(), token)).status, 404, 'a link works once')
  })

  test('that is known is answered as any other, until its owner opens the link', async () => {
    const { id, email } = await console.person()
    const answers = []
    for (const one of [newAddress(), email, email.toUpperCase()]) {
      const { status, headers, json } = await console
        .browser()
        .send('POST', '/session/sign-up', { email: one })
      answers.push({ status, json, names: [...headers.keys()] })
      assert.deepEqual([mails.at(-1)?.kind, mails.at(-1)?.address], ['sign_up', one])
    }
    assert.deepEqual(answers[1], answers[0])
    assert.deepEqual(answers[2], answers[0])
    const token = new URL(mails.at(-1)?.link ?? '').hash.replace('#token=', '')
    const browser = console.browser()
    const view = await browser.send('POST', '/session/sign-up/view', { token })
    assert.equal(view.json.known, true)
    assert.equal((await finish(browser, token)).status, 409)
    const people = await console.sql`select id from person where lower(email) = ${email}`
    assert.deepEqual(
      people.map((row) => row.id),
      [id],
    )
  })

  test('is limited in its mails whether or not it is known', async () => {
    const { email } = await console.person()
    for (const one of [email, newAddress()]) {
      const statuses = []
      for (const _ of [1, 2, 3, 4]) {
        const { status } = await console.browser().send('POST', '/session/sign-up', { email: one })
        statuses.push(status)
      }
      assert.deepEqual(statuses, [204, 204, 204, 429])
    }
  })

  test('accepts its invitations in place of an account of its own', async () => {
    const accountId = await console.account()
    const owner = await console.person()
    await console.join(owner.id, accountId, 'owner')
    const inviting = await console.signedIn(owner.email)
    const email = newAddress()
    const invitation = { email, role: 'viewer' }
    const path = `/accounts/${accountId}/invitations`
    assert.equal((await inviting.send('POST', path, invitation)).status, 200)
    const browser = console.browser()
    assert.equal((await finish(browser, await ask(email))).status, 200)
    const { memberships } = (await browser.send('GET', '/session')).json
    assert.deepEqual([memberships.length, memberships[0].account_id], [1, accountId])
  })
})

describe('the mail of invitations', () => {
  async function signUpAs(name: string) {
    const email = newAddress()
    const browser = console.browser()
    assert.equal((await finish(browser, await ask(email))).status, 200)
    const { memberships } = (await browser.send('GET', '/session')).json
    const accountId: string = memberships[0].account_id
    await console.sql`update account set name = ${name} where id = ${accountId}`
    return { email, browser, accountId }
  }

  const invite = (browser: Browser, accountId: string) =>
    browser.send('POST', `/accounts/${accountId}/invitations`, {
      email: newAddress(),
      role: 'viewer',
    })

  test('has no words of a stranger’s, but his address, until the account was topped up', async () => {
    const name = 'You won: go to http://evil.example now'
    const { email, browser, accountId } = await signUpAs(name)
    const mailed = async () => {
      assert.equal((await invite(browser, accountId)).json.mailed, true)
      return mails.at(-1)?.account
    }
    assert.equal(await mailed(), email)
    const credit = { accountId, reason: 'test', actor: 'test', eventId: null, amountNanos: 1n }
    await postCredit(console.sql, { ...credit, id: 'cred_gift', kind: 'promotion' })
    assert.equal(await mailed(), email)
    await postCredit(console.sql, { ...credit, id: 'cred_paid', kind: 'top_up' })
    assert.equal(await mailed(), name)
  })

  test('goes to five strangers, then others get no mail but their link, until a top-up', async () => {
    const { browser, accountId } = await signUpAs('Rivers')
    const mailed = []
    for (const _ of [1, 2, 3, 4, 5, 6]) {
      const { status, json } = await invite(browser, accountId)
      assert.equal(status, 200)
      assert.match(json.link, /#token=/)
      mailed.push(json.mailed)
    }
    assert.deepEqual(mailed, [true, true, true, true, true, false])
    const paid = { id: 'cred_later', kind: 'top_up', reason: 'test', actor: 'test' } as const
    await postCredit(console.sql, { ...paid, accountId, amountNanos: 1n, eventId: null })
    assert.equal((await invite(browser, accountId)).json.mailed, true)
  })

  test('of an account that an operator has opened has its name', async () => {
    const accountId = await console.account('Rivers.com')
    const owner = await console.person()
    await console.join(owner.id, accountId, 'owner')
    const browser = await console.signedIn(owner.email)
    for (const _ of [1, 2, 3, 4, 5, 6]) {
      assert.equal((await invite(browser, accountId)).json.mailed, true)
      assert.equal(mails.at(-1)?.account, 'Rivers.com')
    }
  })
})

describe('the operator decides', () => {
  test('whether there is a sign-up, also for links that were sent', async () => {
    const token = await ask(newAddress())
    settings.isOpen = false
    const browser = console.browser()
    assert.equal((await browser.send('POST', '/session/sign-up/view', { token })).status, 404)
    assert.equal((await finish(browser, token)).status, 404)
    const asked = await browser.send('POST', '/session/sign-up', { email: newAddress() })
    assert.equal(asked.status, 404)
    assert.equal((await browser.send('GET', '/session/start')).json.sign_up, null)
  })

  test('which domains may, and that subdomains and lookalikes may not', async () => {
    settings.domains = ['acme.example']
    const browser = console.browser()
    for (const email of ['a@b.acme.example', 'a@acme.example.org', 'a@notacme.example']) {
      const { status, json } = await browser.send('POST', '/session/sign-up', { email })
      assert.deepEqual([status, json.param], [400, 'email'], email)
    }
    assert.equal((await finish(browser, await ask('CAPITAL@ACME.example'))).status, 200)
    const token = await ask(newAddress())
    settings.domains = ['other.example']
    assert.equal((await finish(browser, token)).status, 404)
  })

  test('which terms are accepted, by whoever opens the link', async () => {
    settings.terms = 'https://acme.example/terms'
    const token = await ask(newAddress())
    const browser = console.browser()
    const refused = await finish(browser, token)
    assert.deepEqual([refused.status, refused.json.param], [400, 'accept_terms'])
    assert.equal((await finish(browser, token, { accept_terms: true })).status, 200)
    const [row] = await console.sql`select terms from sign_up order by created_at desc limit 1`
    assert.equal(row?.terms, settings.terms)
  })
})

describe('the grant', () => {
  test('is given once to a mailbox, however its address is written, all at once', async () => {
    const written = ['Eve.One@gmail.com', 'eveone+2@gmail.com', 'e.veone+3@googlemail.com']
    await signUpAtOnce(written)
    assert.deepEqual({ ...(await grantsOf()) }, { grants: 1, amount: '5000000000' })
  })

  test('stays within what a network gets, all at once', async () => {
    settings.grant = { ...SIGN_UP.grant, perNetwork: 3 }
    await signUpAtOnce(Array.from({ length: 8 }, newAddress))
    assert.deepEqual({ ...(await grantsOf()) }, { grants: 3, amount: '15000000000' })
    await console.sql`update sign_up set created_at = now() - interval '25 hours'`
    await signUpAtOnce([newAddress()])
    assert.equal((await grantsOf())?.grants, 1, 'the next day has its own')
  })

  test('stays within what a day gives, all at once', async () => {
    settings.grant = { ...SIGN_UP.grant, perDay: 2 }
    await signUpAtOnce(Array.from({ length: 5 }, newAddress))
    assert.equal((await grantsOf())?.grants, 2)
  })

  test('is given with its account or not at all', async () => {
    const token = await ask(newAddress())
    settings.openAccount = async (...parts) => {
      await SIGN_UP.openAccount(...parts)
      throw new Error('the process ends here')
    }
    const counts = () => console.sql`
      select (select count(*) from account) as accounts, (select count(*) from credit) as credits,
        (select count(*) from person) as people`
    const [before] = await counts()
    assert.equal((await finish(console.browser(), token)).status, 500)
    assert.deepEqual({ ...(await counts())[0] }, { ...before })
    settings.openAccount = SIGN_UP.openAccount
    assert.equal((await finish(console.browser(), token)).status, 200)
  })

  test('a mailbox is one in whatever case and with whatever after a plus', () => {
    const part = fc.stringMatching(/^[a-z0-9.]{1,20}$/)
    fc.assert(
      fc.property(part, part, fc.stringMatching(/^[a-z0-9+.]{0,9}$/), (local, host, tag) => {
        const domain = `${host}.example`
        const own = mailboxOf(`${local}@${domain}`)
        assert.equal(mailboxOf(`${local}+${tag}@${domain}`.toUpperCase()), own)
        assert.equal(mailboxOf(own), own)
        assert.ok(own.endsWith(`@${domain}`))
      }),
    )
  })
})

test('an operator sees sign-ups, and stops those of a network for good', async () => {
  const operator = await console.signedIn((await console.person({ isOperator: true })).email)
  const emails = [newAddress(), newAddress()]
  const browsers = []
  for (const email of emails) {
    const browser = console.browser()
    assert.equal((await finish(browser, await ask(email))).status, 200)
    browsers.push(browser)
  }
  const listed = await operator.send('GET', '/operator/sign-ups?network=127.0.0.1&limit=2')
  const rows: Record<string, unknown>[] = listed.json.data
  assert.deepEqual(
    rows.map(({ email }) => email),
    emails.toReversed(),
  )
  assert.deepEqual([rows[0]?.granted, rows[0]?.currency, rows[0]?.state], ['5', 'USD', 'active'])
  const [newest] = rows
  const stopped = await operator.send('POST', '/operator/sign-ups/stop', { id: newest?.id })
  assert.deepEqual([stopped.status, stopped.json], [200, { stopped: 1 }])
  assert.equal((await browsers[1]?.send('GET', '/session'))?.status, 401)
  assert.equal((await browsers[0]?.send('GET', '/session'))?.status, 200)
  const all = await operator.send('POST', '/operator/sign-ups/stop', { network: '127.0.0.1' })
  assert.ok(all.json.stopped >= 1)
  assert.equal((await browsers[0]?.send('GET', '/session'))?.status, 401)
  const open = await console.sql`
    select a.id from account a join sign_up s on s.account_id = a.id where a.status <> 'suspended'`
  assert.deepEqual([...open], [])
  const again = await operator.send('POST', '/operator/sign-ups/stop', { network: '127.0.0.1' })
  assert.equal(again.status, 404)
  assert.equal((await finish(console.browser(), await ask(newAddress()))).status, 200)
  const [last] = await console.sql`select granted from sign_up order by created_at desc limit 1`
  assert.equal(last?.granted, 0n, 'their network gets no grant')
})
