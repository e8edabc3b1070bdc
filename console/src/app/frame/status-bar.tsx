/**
 * Bars above every page for states that must not be missed: the gateway is away, the console is
 * outdated, an operator acts in a customer's account, this is a demo.
 */
import { Button, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { Icon, type IconName } from '../../components/icon.tsx'
import { nameAccount } from '../../components/text/name-account.ts'
import { askGateway, useIsOffline } from '../../lib/connection.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { checkBuild, useIsOutdated } from '../../lib/new-build.ts'
import { useSession } from '../../lib/session.tsx'
import classes from './status-bar.module.css'
import { messages } from './status-messages.ts'
import { useAccountName } from './use-account-name.ts'
import { useArea } from './workspace-switch.tsx'

export function StatusBar() {
  const t = useMessages(messages)
  const { account, demo } = useSession()
  const area = useArea()
  const isOffline = useIsOffline()
  const isOutdated = useIsOutdated()
  useReturn(isOffline)
  return (
    <div className={classes.bars}>
      {isOffline ? (
        <Bar tone="bad" icon="warning" act={t('retry')} onAct={() => void askGateway()}>
          {t('offline')}
        </Bar>
      ) : null}
      {isOutdated ? (
        <Bar tone="info" icon="refresh" act={t('reload')} onAct={() => location.reload()}>
          {t('outdated')}
        </Bar>
      ) : null}
      {account?.isForeign && area === 'customer' ? <Acting accountId={account.id} /> : null}
      {demo ? (
        <Bar tone="info" icon="info">
          {t('demo')}
        </Bar>
      ) : null}
    </div>
  )
}

/** Refreshes the page when the gateway is back, which may be a newer one. */
function useReturn(isOffline: boolean): void {
  const client = useQueryClient()
  const wasOffline = useRef(false)
  useEffect(() => {
    if (wasOffline.current && !isOffline) {
      void checkBuild()
      void client.invalidateQueries()
    }
    wasOffline.current = isOffline
  }, [client, isOffline])
}

function Acting({ accountId }: { readonly accountId: string }) {
  const t = useMessages(messages)
  const { leave } = useSession()
  const navigate = useNavigate()
  const name = useAccountName()
  const back = async () => {
    await navigate({ to: '/operator/accounts', search: { id: accountId } })
    leave()
  }
  return (
    <Bar tone="warning" icon="eye" act={t('leaveAccount')} onAct={() => void back()}>
      {t('acting', { account: nameAccount({ id: accountId, name }) })}
    </Bar>
  )
}

interface BarProps {
  readonly tone: 'bad' | 'warning' | 'info'
  readonly icon: IconName
  readonly children: ReactNode
  /** Label of the button. */
  readonly act?: string
  readonly onAct?: () => void
}

function Bar({ tone, icon, children, act, onAct }: BarProps) {
  return (
    <div className={classes.bar} data-tone={tone} role={tone === 'bad' ? 'alert' : 'status'}>
      <span className={classes.icon}>
        <Icon name={icon} size={16} />
      </span>
      <Text size="sm" component="span" className={classes.words}>
        {children}
      </Text>
      {act ? (
        <Button variant="default" size="compact-xs" onClick={onAct}>
          {act}
        </Button>
      ) : null}
    </div>
  )
}
