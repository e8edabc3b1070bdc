/** Tries a pasted token: whether calls with it are taken, and what its claims give. */
import { Alert, Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { CheckedField } from '../../components/form/checked-form.tsx'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { CodeSnippet } from '../../components/text/code-snippet.tsx'
import { type Fact, KeyValue } from '../../components/text/key-value.tsx'
import { type AdminAnswer, callAdmin } from '../../lib/api.ts'
import { useMessages, useServerText } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

type Tried = AdminAnswer<'POST /operator/token-issuers/try'>

export function TryToken() {
  const t = useMessages(messages)
  const [tried, setTried] = useState<Tried>()
  return (
    <Stack gap="md">
      <SubmitForm
        act={t('try')}
        isInline
        onSend={async ({ token = '' }) => {
          setTried(undefined)
          setTried(
            await callAdmin('POST /operator/token-issuers/try', { body: { token: token.trim() } }),
          )
        }}
      >
        <CheckedField param="token">
          {(error) => (
            <Textarea
              name="token"
              label={t('token')}
              description={t('tokenText')}
              error={error}
              autosize
              minRows={2}
              maxRows={6}
              spellCheck={false}
              required
            />
          )}
        </CheckedField>
      </SubmitForm>
      {tried ? <Outcome {...tried} /> : null}
    </Stack>
  )
}

function Outcome({ problem, gives, signs_in: signsIn, claims }: Tried) {
  const t = useMessages(messages)
  const textOf = useServerText()
  const given: Fact[] = gives
    ? [
        { label: t('issuer'), value: gives.issuer },
        { label: t('account'), value: gives.account_id },
        { label: t('member'), value: gives.member ?? '–' },
        { label: t('tags'), value: gives.tags.join(', ') || '–' },
        { label: t('endUser'), value: gives.end_user ?? '–' },
      ]
    : []
  const roles: Fact[] = signsIn.map(({ provider, operator, accounts, role }) => ({
    label: t('signsIn', { provider }),
    value:
      [operator ? t('operator') : '', ...accounts.map((account) => `${account}: ${role}`)]
        .filter(Boolean)
        .join(', ') || t('nothing'),
  }))
  return (
    <Stack gap="md">
      <Alert
        color={problem === null ? 'teal' : 'red'}
        title={t(problem === null ? 'taken' : 'refused')}
        styles={{ label: { color: 'var(--mantine-color-text)' } }}
        role="status"
      >
        {problem === null ? t('takenText') : textOf(problem)}
      </Alert>
      <KeyValue facts={[...given, ...roles]} />
      <CodeSnippet code={JSON.stringify(claims, null, 2)} />
    </Stack>
  )
}
