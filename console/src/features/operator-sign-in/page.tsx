/** Signing in, for operators: providers, the try-out of a token, and who signed up. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { TextLink } from '../../components/links.tsx'
import { InOrder } from '../../components/page/in-order.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'
import { ProviderForm } from './provider-form.tsx'
import { ProviderList } from './providers.tsx'
import { SignUps } from './sign-ups.tsx'
import { TryToken } from './try-token.tsx'

export function Page() {
  const t = useMessages(messages)
  const [isAdding, setAdding] = useState(false)
  const add = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
      {t('add')}
    </Button>
  )
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} actions={add} />
      <InOrder gap="lg">
        <ProviderList add={add} />
        <SignUps />
        <Panel
          title={t('tryTitle')}
          aside={
            <TextLink to="/operator/subjects" size="sm">
              {t('toIssuers')}
            </TextLink>
          }
        >
          <TryToken />
        </Panel>
      </InOrder>
      <ProviderForm isOpen={isAdding} onClose={() => setAdding(false)} />
    </>
  )
}
