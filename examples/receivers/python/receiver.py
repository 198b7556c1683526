"""A webhook receiver: verify, record, answer, then work. README.md says how to run it."""

import os
import threading
import traceback
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from recorded import RecordedEvents
from signature import is_signed

secrets = os.environ["WEBHOOK_SECRET"].split(",")
events = RecordedEvents(os.environ.get("DATABASE_FILE", "events.db"))
is_there_work = threading.Event()


@asynccontextmanager
async def run_worker(_app):
    is_there_work.set()  # What an earlier run recorded, and did not finish.
    threading.Thread(target=work, daemon=True).start()
    yield


# Redirects are not followed: a path with another slash at its end must be a 404, which is easier to understand.
app = FastAPI(lifespan=run_worker, redirect_slashes=False, docs_url=None, redoc_url=None, openapi_url=None)


@app.post("/webhooks")
async def receive(request: Request):
    # The signature covers the bytes as they arrived: verify before parsing. A parameter with a model would parse.
    raw_body = await request.body()
    if not is_signed(request.headers, raw_body, secrets):
        return Response(status_code=401)
    # When this fails, the answer is a 500, and the event is sent again later.
    await run_in_threadpool(events.record, raw_body)
    is_there_work.set()
    return Response(status_code=204)


def work():
    while True:
        is_there_work.wait()
        is_there_work.clear()
        for event in events.unhandled():
            try:
                handle(event)
                events.mark_handled(event["id"])
            except Exception:
                # The event stays recorded, and is tried again with the next one, or at the next start.
                traceback.print_exc()


def handle(event):
    print("handled", event["id"], event["type"], event["data"], flush=True)


if __name__ == "__main__":
    uvicorn.run(
        app,
        host=os.environ.get("HOST", "127.0.0.1"),
        port=int(os.environ.get("PORT", "8080")),
        ssl_certfile=os.environ.get("TLS_CERT_FILE"),
        ssl_keyfile=os.environ.get("TLS_KEY_FILE"),
        # The sender keeps an idle connection for 30 seconds. Close it later than that, so that no request meets the end.
        timeout_keep_alive=65,
        access_log=False,
    )
