/**
 * Spreads new connections over iterations of the event loop: each iteration starts a tenth of the waiting connections.
 * If a thousand started at once, their handshakes would complete together and delay all responses behind them.
 */
export function createConnectPacing(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const beginSome = () => {
    for (const begin of waiting.splice(0, Math.max(2, Math.ceil(waiting.length / 10)))) begin();
    if (waiting.length > 0) setImmediate(beginSome);
  };
  return () => new Promise((resolve) => waiting.push(resolve) === 1 && setImmediate(beginSome));
}
