// Renders a query: skeleton while loading, error with retry, or the children with data.
import type { UseQueryResult } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useErrorText } from '../runtime/errors.ts'
import { Banner } from './Banner.tsx'
import { Button } from './Button.tsx'
import { Skeleton } from './parts.tsx'

/** What useQuery and useInfiniteQuery both return. */
type Asked<T> = Pick<UseQueryResult<T>, 'data' | 'error' | 'isPending' | 'isFetching'> & {
  readonly refetch: () => unknown
}

/** `<QueryView query={useQuery(homeQuery)}>{(home) => …}</QueryView>` */
export function QueryView<T>(props: {
  readonly query: Asked<T>
  readonly lines?: number
  /** In place of lines, for content with a shape of its own. */
  readonly skeleton?: ReactNode
  readonly children: (answer: T) => ReactNode
}) {
  const { query, lines = 3, skeleton, children } = props
  const { t } = useTranslation()
  const errorText = useErrorText()
  // A failed refetch must not take away data that is already shown.
  if (query.data !== undefined) return children(query.data)
  if (query.isPending) return skeleton ?? <Skeleton lines={lines} />
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
