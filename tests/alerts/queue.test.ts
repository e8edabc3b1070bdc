/** From an alert to webhooks and mail: once, whatever dies in between and however many work. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { newId } from '../../server/base/lib/ids.ts'
import { createSecretBox } from '../../server/base/lib/secrets/secrets.ts'
import { dispatchWaiting } from '../../server/work/alerts/dispatch.ts'
import { enqueueLink } from '../../server/work/alerts/mail/link-mail.ts'
import { type MailSender, startMailSender } from '../../server/work/alerts/mail/mail-sender.ts'
import { claimMails, recordMail } from '../../server/work/alerts/mail/mail-store.ts'
import { createCaller } from '../ledger/support.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { type SmtpTestServer, startSmtpServer } from '../support/servers/smtp-server.ts'
import { until } from '../support/until.ts'

let database: TestDatabase
let smtp: SmtpTestServer
const senders: MailSender[] = []
before(async () => {
  database = await createTestDatabase()
  smtp = await startSmtpServer()
})
after(async () => {
  await Promise.all(senders.map((sender) => sender.stop(0)))
  await smtp.stop()
  await database.drop()
})
beforeEach(async () => {
  await Promise.all(senders.splice(0).map((sender) => sender.stop()))
  await database.sql`update mail set state = 'failed', finished_at = now(), lease_until = null
    where state = 'pending'`
  smtp.answer('.', '250 taken')
  smtp.onData = undefined
})

const secrets = createSecretBox(['a-secret-key-that-only-tests-would-ever-use'])
const log = { debug() {}, info() {}, warn() {}, error() {}, trace() {}, fatal() {} }

function startSender(change: object = {}): MailSender {
  const server = { host: '127.0.0.1', port: smtp.port, security: 'none' } as const
  const sender = startMailSender({
    sql: database.sql,
    log: log as never,
    mail: { server, from: { name: '', address: 'gateway@t.example' } },
    consoleUrl: 'https://t.example/console/',
    secrets,
    ...change,
  })
  senders.push(sender)
  return sender
}

/** Returns an account with an address and an owner of this language. */
async function createOwner(language: string): Promise<{ accountId: string; email: string }> {
  const { sql } = database
  const { accountId } = await createCaller(sql, 0n)
  const id = newId('user')
  const email = `${id}@c.example`.toLowerCase()
  await sql`
    insert into person (id, email, name, language) values (${id}, ${email}, 'Owner', ${language})`
  await sql`
    insert into membership (person_id, account_id, role) values (${id}, ${accountId}, 'owner')`
  await sql`update account set alert_url = 'http://127.0.0.1:9/alerts?x=1' where id = ${accountId}`
  return { accountId, email }
}

async function alert(accountId: string): Promise<void> {
  await database.sql`
    insert into alert_event (kind, account_id, subject) values ('balance_low', ${accountId},
      '{"available": "1500000000", "held": "0", "low_balance_at": "5000000000", "currency": "USD"}')`
}

const mailsTo = (email: string) => smtp.mails.filter(({ to }) => to.includes(email))
const stateOf = async (email: string) => {
  const [row] = await database.sql<{ state: string; attempts: number; error: string | null }[]>`
    select state, attempts, error from mail where address = ${email}`
  return row
}

test('an alert becomes one delivery and a mail to each owner, by any number of processes', async () => {
  const { accountId, email } = await createOwner('zh')
  await alert(accountId)
  const { sql } = database
  await Promise.all([1, 2, 3].map(() => dispatchWaiting(sql, true)))
  await dispatchWaiting(sql, true)
  const deliveries = await sql<{ body: Buffer; host: string; task_id: string | null }[]>`
    select body, host, task_id from delivery where account_id = ${accountId}`
  assert.equal(deliveries.length, 1)
  const body = JSON.parse(`${deliveries[0]?.body}`)
  assert.equal(body.event, 'balance.low')
  assert.equal(body.account_id, accountId)
  assert.ok(Date.parse(body.at) > 0)
  assert.deepEqual([body.available, body.low_balance_at, body.currency], ['1.5', '5', 'USD'])
  startSender()
  startSender()
  await until('the mail', async () => (await stateOf(email))?.state === 'sent')
  assert.equal(mailsTo(email).length, 1)
  assert.match(mailsTo(email)[0]?.data ?? '', /^Content-Language: zh\r$/m)
})

test('nothing is enqueued when the transaction fails, and without a mail server no mail', async () => {
  const { accountId, email } = await createOwner('en')
  const { sql } = database
  await assert.rejects(
    sql.begin(async (transaction) => {
      await transaction`
        insert into alert_event (kind, account_id) values ('balance_empty', ${accountId})`
      throw new Error('undone')
    }),
    /undone/,
  )
  await alert(accountId)
  await dispatchWaiting(sql, false)
  const [count] = await sql<{ deliveries: number }[]>`
    select count(*)::int as deliveries from delivery where account_id = ${accountId}`
  assert.equal(count?.deliveries, 1)
  assert.equal(await stateOf(email), undefined)
})

test('a process that dies after it claimed: another sends it, with the same Message-ID', async () => {
  const { accountId, email } = await createOwner('en')
  await alert(accountId)
  await dispatchWaiting(database.sql, true)
  const [dead] = await claimMails(database.sql, 1, { attemptsMax: 7, leaseMs: 60_000 })
  assert.equal(dead?.address, email)
  const others = await claimMails(database.sql, 9, { attemptsMax: 7, leaseMs: 60_000 })
  assert.equal(others.length, 0)
  await database.sql`update mail set lease_until = now() - interval '1 second'
    where address = ${email}`
  startSender()
  await until('the mail', async () => (await stateOf(email))?.state === 'sent')
  const id = new RegExp(`^Message-ID: <${dead?.id}@t\\.example>\\r$`, 'm')
  assert.match(mailsTo(email)[0]?.data ?? '', id)
  assert.equal(await recordMail(database.sql, dead as never, { state: 'sent' }), false)
})

test('a server that refuses for now is asked again, until the mail is given up', async () => {
  const { accountId, email } = await createOwner('en')
  await alert(accountId)
  await dispatchWaiting(database.sql, true)
  smtp.answer('.', '451 not now')
  const outcomes: string[] = []
  const onMail = (outcome: string) => void outcomes.push(outcome)
  startSender({ delaysMs: [1, 1], onMail })
  await until('the end', async () => (await stateOf(email))?.state === 'failed')
  const state = await stateOf(email)
  assert.equal(state?.attempts, 3)
  assert.match(state?.error ?? '', /451 not now/)
  await until('its report', () => outcomes.includes('dropped'))
  assert.deepEqual(outcomes, ['retried', 'retried', 'dropped'])
  assert.equal(mailsTo(email).length, 0)
})

test('a server that hangs holds up no other mail for longer than its time', async () => {
  const [first, second] = [await createOwner('en'), await createOwner('en')]
  await alert(first.accountId)
  await dispatchWaiting(database.sql, true)
  smtp.answer('.', null)
  // On a busy machine the other mail takes a while as well.
  startSender({ totalMs: 3_000, delaysMs: [60_000] })
  await until('a failed attempt', async () => (await stateOf(first.email))?.error !== null)
  smtp.answer('.', '250 taken')
  await alert(second.accountId)
  await dispatchWaiting(database.sql, true)
  await until('the other', async () => (await stateOf(second.email))?.state === 'sent')
  assert.equal((await stateOf(first.email))?.state, 'pending')
})

test('a flood of alerts mails a person at most 20 times within an hour', async () => {
  const { accountId, email } = await createOwner('en')
  for (let number = 0; number < 30; number += 1) await alert(accountId)
  await dispatchWaiting(database.sql, true)
  const [row] = await database.sql<{ mails: number; deliveries: number }[]>`
    select (select count(*)::int from mail where address = ${email}) as mails,
      (select count(*)::int from delivery where account_id = ${accountId}) as deliveries`
  assert.deepEqual({ ...row }, { mails: 20, deliveries: 30 })
})

test('a mailed link stands in the queue sealed, and goes out as it is', async () => {
  const { sql } = database
  const link = 'https://t.example/console/invite#token=once-and-for-me'
  const expiresAt = new Date('2031-02-03T04:05:00Z')
  const address = 'guest@c.example'
  const role = 'viewer'
  const mail = { kind: 'invitation', address, language: 'en', link, expiresAt } as const
  await sql.begin((transaction) =>
    enqueueLink(transaction, secrets, { ...mail, account: 'Acme', role }),
  )
  const [row] = await sql`select params::text as params from mail where address = ${address}`
  assert.ok(!row?.params.includes('once-and-for-me'))
  startSender()
  await until('the mail', async () => (await stateOf(address))?.state === 'sent')
  // Quoted-printable writes = as =3D, and breaks long lines.
  const data = mailsTo(address)[0]?.data.replace(/=\r\n/g, '').replaceAll('=3D', '=')
  assert.ok((data ?? '').includes(link))
})

test('a link that was sealed with another key is given up', async () => {
  const { sql } = database
  const other = createSecretBox(['another-secret-key-that-is-gone-by-now'])
  const mail = { kind: 'invitation', address: 'late@c.example', language: 'zh' } as const
  const about = { ...mail, link: 'https://t.example/', expiresAt: new Date() }
  await sql.begin((transaction) => enqueueLink(transaction, other, about))
  startSender()
  await until('its end', async () => (await stateOf(mail.address))?.state === 'failed')
})
