// The three faces of an answer that is asked for: not yet, not at all, and here it is.
import type { UseQueryResult } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useErrorText } from '../runtime/errors.ts'
import { Banner } from './Banner.tsx'
import { Button } from './Button.tsx'
import { Skeleton } from './parts.tsx'

/** `<Asked query={useQuery(homeAsk)}>{(home) => …}</Asked>` */
export function Asked<T>(props: {
  readonly query: UseQueryResult<T>
  readonly lines?: number
  readonly children: (answer: T) => ReactNode
}) {
  const { query, lines = 3, children } = props
  const { t } = useTranslation()
  const errorText = useErrorText()
  // What was there stays there: a failed look for news is no reason to take the page away.
  if (query.data !== undefined) return children(query.data)
  if (query.isPending) return <Skeleton lines={lines} />
  return (
    <Banner
      tone="bad"
      actions={
        <Button
          isSmall
          icon={RotateCw}
          isPending={query.isFetching}
          onClick={() => void query.refetch()}
        >
          {t('action.again')}
        </Button>
      }
    >
      {errorText(query.error)}
    </Banner>
  )
}
