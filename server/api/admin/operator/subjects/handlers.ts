/** Lists issuers and subjects, and disables and enables subjects. */

import { toPage } from '../../../../base/http/page.ts'
import { selectSubjects, updateSubjects } from '../../../../money/accounts/tokens/subject-store.ts'
import { selectIssuers } from '../../../../money/catalog/issuers/issuer-store.ts'
import { isActive } from '../../../../money/catalog/store.ts'
import type { HandlersOf } from '../../handler.ts'
import { found } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import type { operatorSubjectsContract } from './contract.ts'
import { tryToken } from './try-token.ts'

async function findSubject({ sql }: AdminServices, id: string) {
  const [row] = await selectSubjects(sql, { id }, 1)
  return found(row, 'subject')
}

async function setDisabled(services: AdminServices, id: string, isDisabled: boolean) {
  await updateSubjects(services.sql, { id }, isDisabled)
  return findSubject(services, id)
}

export const operatorSubjectsHandlers: HandlersOf<typeof operatorSubjectsContract> = {
  async 'GET /operator/token-issuers'({ query }, { sql }) {
    const { limit, cursor = '' } = query
    const stored = await selectIssuers(sql)
    const rows = stored.filter((row) => isActive(row) && row.id > cursor).slice(0, limit + 1)
    const data = rows.map(({ definition, source, updated_at }) => {
      const { account } = definition
      const where = typeof account === 'string' ? account : `{"claim": "${account.claim}"}`
      const { id, issuer, audience, algorithms } = definition
      return {
        id,
        issuer,
        audience,
        algorithms: [...algorithms],
        account: where,
        source,
        updated_at,
      }
    })
    return toPage(data, limit, 'id')
  },
  async 'POST /operator/token-issuers/try'({ body }, services) {
    return await tryToken(services, body.token)
  },
  async 'GET /operator/subjects'({ query }, { sql }) {
    const { limit, cursor, issuer, search } = query
    const rows = await selectSubjects(sql, { issuer, search, after: cursor }, limit + 1)
    return toPage(rows, limit, 'id')
  },
  async 'POST /operator/subjects/:key_id/disable'({ params, note }, services) {
    const { issuer, subject } = await findSubject(services, params.key_id)
    note({ issuer, subject })
    return setDisabled(services, params.key_id, true)
  },
  async 'POST /operator/subjects/:key_id/enable'({ params, note }, services) {
    const { issuer, subject } = await findSubject(services, params.key_id)
    note({ issuer, subject })
    return setDisabled(services, params.key_id, false)
  },
}
