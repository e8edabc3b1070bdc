/** The price of a request and the button that sends it. */
import { Button } from '@mantine/core'
import { Icon } from '../../../components/icon.tsx'
import { useMessages } from '../../../lib/i18n.tsx'
import classes from './bench.module.css'
import { CostBefore } from './cost/cost-before.tsx'
import { messages } from './messages.ts'
import type { PlaygroundRequest } from './order.ts'

interface AskProps {
  readonly order: PlaygroundRequest | undefined
  readonly isRunning: boolean
  readonly onStop: () => void
}

export function Ask({ order, isRunning, onStop }: AskProps) {
  const t = useMessages(messages)
  return (
    <div className={classes.ask}>
      <div className={classes.cost}>
        <CostBefore order={order} />
      </div>
      {isRunning ? (
        <Button variant="default" leftSection={<Icon name="stop" size={16} />} onClick={onStop}>
          {t('stop')}
        </Button>
      ) : (
        <Button
          type="submit"
          title={t('sendHint')}
          disabled={!order}
          leftSection={<Icon name="send" size={16} />}
        >
          {t('send')}
        </Button>
      )}
    </div>
  )
}
