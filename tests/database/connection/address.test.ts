/** Addresses as people have them: all parts reach the client as they are meant, or a line helps. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkAddress,
  explainParameter,
  readSocketUrl,
  readTarget,
} from '../../../server/base/database/connection/address.ts'
import { openClient } from '../../../server/base/database/connection/open-client.ts'
import { DatabaseProblem } from '../../../server/base/database/problem.ts'

test('IPv6, characters of every kind and a missing port are read as they are meant', () => {
  const odd = "o'dd @:/#?%é"
  const encoded = encodeURIComponent(odd)
  const url = `postgres://${encoded}:${encoded}@[::1]:6000/${encoded}?sslmode=disable`
  assert.deepEqual(readTarget(url), { host: ['::1'], port: [6000] })
  const { user, pass, database } = openClient({ url }, {}).options
  assert.deepEqual([user, pass, database], [odd, odd, odd])
  const plain = readTarget('postgresql://me:secret@db.example.com/tributary')
  assert.deepEqual(plain, { host: ['db.example.com'], port: [5432] })
})

test('a socket folder is named as the host or as a parameter, its user too', () => {
  const folder = '/var/run/postgresql'
  for (const url of [
    `postgres://me:secret@${encodeURIComponent(folder)}/tributary`,
    `postgres:///tributary?host=${folder}&user=me&password=secret`,
  ]) {
    assert.deepEqual(readSocketUrl(url), {
      socketFolder: folder,
      port: 5432,
      user: 'me',
      password: 'secret',
      database: 'tributary',
    })
  }
})

test('an address that cannot be read, or has a parameter of another program, is explained', () => {
  for (const url of ['postgres://me:pa%ss@db/name', 'postgres://me:pa#ss@db/name', 'nonsense']) {
    assert.throws(() => checkAddress(url), { name: DatabaseProblem.name, message: /percent-enc/ })
  }
  checkAddress('postgres://me:pa%25ss@db/name')
  const neon = 'postgres://me@db/name?sslmode=require&channel_binding=require'
  const unknown = Object.assign(new Error('unrecognized "channel_binding"'), { code: '42704' })
  assert.match(explainParameter(unknown, neon) ?? '', /\(unrecognized "channel_binding"\): remove/)
  assert.equal(explainParameter(unknown, 'postgres://me@db/name'), undefined)
  assert.equal(explainParameter(new Error('another'), neon), undefined)
})
