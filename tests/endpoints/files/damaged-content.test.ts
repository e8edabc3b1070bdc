/** Files whose content is no longer what was stored, on the local disk and in an object store. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathOfContent } from '../../../server/work/assets/storage/disk-storage.ts'
import { runWith } from '../../cli/support.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../../support/in-process.ts'
import { programEnvironment } from '../../support/processes.ts'
import { type S3Server, startS3Server } from '../../support/s3-server.ts'

const CONTENT = randomBytes(300_000)

interface Place {
  /** Replaces the content of the only file; undefined removes it. */
  change(content: Buffer | undefined): void
}

for (const kind of ['disk', 'object store'] as const) {
  describe(`content on the ${kind}`, () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'damaged-'))
    let store: S3Server
    let gateway: TestGateway
    let tenant: Tenant
    before(async () => {
      store = await startS3Server()
      const remote = kind === 'disk' ? {} : store.environment
      gateway = await startTestGateway({ ...remote, DATA_DIR: dataDir })
      tenant = await gateway.tenant()
    })
    after(async () => {
      await gateway.stop()
      await store.stop()
      rmSync(dataDir, { recursive: true, force: true })
    })

    async function upload(): Promise<{ link: string; id: string; place: Place }> {
      const { key } = tenant
      const body = new FormData()
      body.append('file', new Blob([new Uint8Array(CONTENT)]), 'a.bin')
      const answer = await gateway.fetch('/v1/files', { method: 'POST', key, body })
      const { id, url } = (await answer.json()) as { id: string; url: string }
      const [row] = await gateway.sql<{ storage_key: string }[]>`
        select storage_key from file where id = ${id}`
      const storageKey = row?.storage_key ?? ''
      return {
        id,
        link: gateway.url + new URL(url).pathname,
        place: {
          change(content) {
            if (kind === 'object store') {
              if (content) store.objects.set(storageKey, content)
              else store.objects.delete(storageKey)
              return
            }
            const path = pathOfContent(join(dataDir, 'files'), storageKey)
            if (content) writeFileSync(path, content)
            else rmSync(path)
          },
        },
      }
    }

    const verify = async (...words: string[]) => {
      const remote = kind === 'disk' ? {} : store.environment
      const environment = {
        ...programEnvironment(),
        DATABASE_URL: gateway.databaseUrl,
        TRIBUTARY_TEST_UNSAFE_DATABASE: '1',
        SECRET_KEY: 'a-secret-key-that-only-tests-would-ever-use',
        DATA_DIR: dataDir,
        ...remote,
      }
      const { code, out, err } = await runWith(environment, ['files', 'verify', ...words])
      return { code, out, err }
    }

    test('as stored: read whole and in part, and verified', async () => {
      const { link } = await upload()
      const whole = await fetch(link)
      assert.ok(Buffer.from(await whole.arrayBuffer()).equals(CONTENT))
      const part = await fetch(link, { headers: { range: 'bytes=10-19' } })
      assert.ok(Buffer.from(await part.arrayBuffer()).equals(CONTENT.subarray(10, 20)))
      const { code, out, err } = await verify()
      assert.equal(code, 0, err)
      assert.match(out, /^1 files of 0 MB read: all as stored\.\n$/)
    })

    test('lost: 404 that says so, and found', async () => {
      const { link, id, place } = await upload()
      place.change(undefined)
      const { key } = tenant
      for (const answer of [
        await fetch(link),
        await fetch(link, { headers: { range: 'bytes=0-9' } }),
        await gateway.fetch(`/v1/files/${id}/content`, { key }),
      ]) {
        assert.equal(answer.status, 404)
        assert.match(await answer.text(), /the content of this file is lost/)
      }
      const { code, out } = await verify('--json', '--account', tenant.accountId)
      assert.equal(code, 1)
      const { faults } = JSON.parse(out)
      assert.deepEqual(
        faults.map((one: { fault: string; id: string }) => [one.fault, one.id]),
        [['lost', id]],
      )
      await gateway.fetch(`/v1/files/${id}`, { method: 'DELETE', key })
    })

    test('cut short, longer, or with other bytes: the response breaks off, and it is found', async () => {
      const { link, id, place } = await upload()
      const other = Buffer.from(CONTENT)
      other[150_000] = (other[150_000] ?? 0) ^ 1
      for (const [fault, content] of [
        ['cut', CONTENT.subarray(0, 200_000)],
        ['cut', Buffer.alloc(0)],
        ['damaged', other],
      ] as const) {
        place.change(content)
        const answer = await fetch(link).catch(() => undefined)
        // A store has no range of an empty object, so it counts as lost before the head is sent.
        if (answer?.status === 200)
          await assert.rejects(answer.arrayBuffer(), `${fault}, ${content.length} bytes`)
        const { code, out } = await verify('--account', tenant.accountId)
        assert.equal(code, 1)
        assert.ok(out.startsWith(`${fault}: file ${id} of ${tenant.accountId}, key `), out)
      }
      place.change(CONTENT.subarray(0, 100))
      const beyond = await fetch(link, { headers: { range: 'bytes=1000-1009' } }).catch(
        () => undefined,
      )
      if (beyond?.status === 206) await assert.rejects(beyond.arrayBuffer())
      else assert.ok(!beyond || beyond.status === 404, `${beyond?.status}`)
      await gateway.fetch(`/v1/files/${id}`, { method: 'DELETE', key: tenant.key })
    })

    test('unowned: found over all accounts only', async () => {
      const unowned = (kind === 'disk' ? '' : 's3-') + 'x'.repeat(32)
      if (kind === 'disk') {
        const { id, place } = await upload()
        place.change(undefined)
        await gateway.fetch(`/v1/files/${id}`, { method: 'DELETE', key: tenant.key })
        const [folder = ''] = readdirSync(join(dataDir, 'files')).filter((one) => one.length === 2)
        writeFileSync(join(dataDir, 'files', folder, folder + 'x'.repeat(30)), 'nobody owns this')
      } else store.objects.set(unowned, Buffer.from('nobody owns this'))
      const { code, out } = await verify()
      assert.equal(code, 1, out)
      assert.match(out, /^unowned: key /)
      assert.equal((await verify('--account', tenant.accountId)).code, 0)
    })

    test('an account that does not exist', async () => {
      const { code, err } = await verify('--account', 'acc_nobody')
      assert.equal(code, 1)
      assert.match(err, /there is no account acc_nobody/)
    })

    test('storage that is away loses nothing: 503', {
      skip: kind !== 'disk' && 'of the disk',
    }, async () => {
      const { link } = await upload()
      const folder = join(dataDir, 'files')
      renameSync(folder, `${folder}-away`)
      try {
        assert.equal((await fetch(link)).status, 503)
      } finally {
        renameSync(`${folder}-away`, folder)
      }
      assert.equal((await fetch(link)).status, 200)
    })
  })
}
