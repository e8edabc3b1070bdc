/** Dialog that adds or changes a provider, and tests the discovery of its issuer. */
import { Alert, Button, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { CheckedField } from '../../components/form/checked-form.tsx'
import { Dialog } from '../../components/form/dialog.tsx'
import { InvalidField } from '../../components/form/invalid-field.ts'
import { onlyChanged } from '../../components/form/list-changes.ts'
import { SecretInput } from '../../components/form/secret-input.tsx'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { CopyText } from '../../components/text/copy-button.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages, useServerText } from '../../lib/i18n.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

export type SignInProvider = AdminAnswer<'GET /operator/sign-in-providers'>['data'][number]

interface ProviderFormProps {
  readonly isOpen: boolean
  /** The one that is changed; absent: a new one. */
  readonly provider?: SignInProvider | undefined
  readonly onClose: () => void
}

export function ProviderForm({ isOpen, provider, onClose }: ProviderFormProps) {
  const t = useMessages(messages)
  const title = provider ? t('editTitle', { name: provider.name }) : t('add')
  return (
    <Dialog isOpen={isOpen} title={title} size="lg" onClose={onClose}>
      <Form provider={provider} onClose={onClose} />
    </Dialog>
  )
}

type FormProps = Omit<ProviderFormProps, 'isOpen'>

function Form({ provider, onClose }: FormProps) {
  const t = useMessages(messages)
  const add = useAdminChange('POST /operator/sign-in-providers')
  const change = useAdminChange('PATCH /operator/sign-in-providers/:provider')
  const [issuer, setIssuer] = useState(provider?.issuer ?? '')
  const [opened] = useState(provider)
  const send = async (fields: Readonly<Record<string, string>>) => {
    const { name = '', client_id = '', client_secret = '', scopes = '', rules = '' } = fields
    const values = {
      name,
      issuer,
      client_id,
      scopes,
      rules: readRules(rules, t('rulesInvalid')),
      trusts_email: fields.trusts_email === 'on',
      disabled: fields.enabled !== 'on',
    }
    const secret = client_secret === '' ? {} : { client_secret }
    if (opened) {
      const body = { ...onlyChanged(valuesOf(opened), values), ...secret }
      await change.mutateAsync({ params: { provider: opened.id }, body })
    } else await add.mutateAsync({ body: { ...values, ...secret } })
    notifyDone(t('saved'))
    onClose()
  }
  return (
    <SubmitForm act={provider ? t('save') : t('add')} onCancel={onClose} onSend={send}>
      <CheckedField param="name">
        {(error) => (
          <TextInput
            name="name"
            label={t('name')}
            description={t('nameText')}
            error={error}
            defaultValue={provider?.name}
            required
            data-autofocus
          />
        )}
      </CheckedField>
      <CheckedField param="issuer">
        {(error) => (
          <TextInput
            name="issuer"
            label={t('issuer')}
            description={t('issuerText')}
            placeholder="https://login.example.com"
            error={error}
            value={issuer}
            onChange={(event) => setIssuer(event.currentTarget.value)}
            required
          />
        )}
      </CheckedField>
      <Discovery issuer={issuer} />
      <Addresses />
      <ClientFields provider={provider} />
    </SubmitForm>
  )
}

function valuesOf(opened: SignInProvider) {
  const { name, issuer, client_id, scopes, rules, trusts_email, disabled } = opened
  return { name, issuer, client_id, scopes, rules, trusts_email, disabled }
}

/** The addresses that the provider has to know of. */
function Addresses() {
  const t = useMessages(messages)
  const { data } = useAdmin('GET /operator/sign-in-providers', {})
  if (!data) return null
  return (
    <KeyValue
      facts={[
        { label: t('callback'), value: <CopyText value={data.callback_url} /> },
        { label: t('signedOut'), value: <CopyText value={data.signed_out_url} /> },
      ]}
    />
  )
}

function ClientFields({ provider }: Pick<FormProps, 'provider'>) {
  const t = useMessages(messages)
  return (
    <>
      <CheckedField param="client_id">
        {(error) => (
          <TextInput
            name="client_id"
            label={t('clientId')}
            error={error}
            defaultValue={provider?.client_id}
            required
          />
        )}
      </CheckedField>
      <SecretInput
        name="client_secret"
        label={t('clientSecret')}
        description={provider?.has_secret ? t('secretKept') : t('secretText')}
        autoComplete="off"
      />
      <CheckedField param="scopes">
        {(error) => (
          <TextInput
            name="scopes"
            label={t('scopes')}
            error={error}
            defaultValue={provider?.scopes ?? 'openid email profile'}
            required
          />
        )}
      </CheckedField>
      <CheckedField param="rules">
        {(error) => (
          <Textarea
            name="rules"
            label={t('rules')}
            description={t('rulesText')}
            error={error}
            defaultValue={JSON.stringify(provider?.rules ?? [], null, 2)}
            autosize
            minRows={3}
            maxRows={14}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          />
        )}
      </CheckedField>
      <Switch
        name="trusts_email"
        label={t('trustsEmail')}
        description={t('trustsEmailText')}
        defaultChecked={provider?.trusts_email ?? false}
      />
      <Switch
        name="enabled"
        label={t('enabled')}
        defaultChecked={provider ? !provider.disabled : true}
      />
    </>
  )
}

/** Says what is wrong with an issuer, or what its provider needs to know of the gateway. */
function Discovery({ issuer }: { readonly issuer: string }) {
  const t = useMessages(messages)
  const textOf = useServerText()
  const test = useAdminChange('POST /operator/sign-in-providers/discover', { refreshes: [] })
  const { data } = test
  return (
    <Stack gap="xs" align="flex-start">
      <Button
        variant="default"
        size="xs"
        loading={test.isPending}
        disabled={issuer === ''}
        onClick={() => test.mutate({ body: { issuer } })}
      >
        {t('test')}
      </Button>
      {test.error ? <ErrorState error={test.error} /> : null}
      {data ? (
        <Alert
          color={data.problem === null ? 'teal' : 'red'}
          title={t(data.problem === null ? 'testPassed' : 'testFailed')}
          styles={{ label: { color: 'var(--mantine-color-text)' } }}
          role="status"
        >
          {data.problem === null
            ? t(data.ends_sessions ? 'endsSessions' : 'keepsSessions')
            : textOf(data.problem)}
        </Alert>
      ) : null}
    </Stack>
  )
}

function readRules(text: string, problem: string): Record<string, unknown>[] {
  if (text.trim() === '') return []
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidField('rules', problem)
  }
}
