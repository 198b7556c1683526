// Made from docs/openapi.json by `npm run openapi`. Not to be changed by hand.

import type { Tool } from '../mcp/tool.ts';

export const tools: readonly Tool[] = [
 {
  "name": "me_get",
  "description": "Read this API key.",
  "isWriting": false,
  "method": "GET",
  "path": "/v1/me",
  "given": {},
  "input": {
   "type": "object",
   "properties": {},
   "required": [],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "object": {
     "type": "string"
    },
    "organization": {
     "type": "object",
     "properties": {
      "id": {
       "type": "string"
      },
      "name": {
       "type": "string"
      },
      "plan": {
       "type": "string"
      },
      "body_retention_seconds": {
       "type": [
        "integer",
        "null"
       ]
      }
     }
    },
    "key": {
     "type": "object",
     "properties": {
      "id": {
       "type": "string"
      },
      "name": {
       "type": "string"
      },
      "key_prefix": {
       "type": "string"
      },
      "scopes": {
       "type": "array",
       "items": {
        "type": "string"
       }
      },
      "ip_allowlist": {
       "type": [
        "array",
        "null"
       ],
       "items": {
        "type": "string"
       }
      },
      "created_at": {
       "type": "string"
      },
      "expires_at": {
       "type": [
        "string",
        "null"
       ]
      },
      "last_used_at": {
       "type": [
        "string",
        "null"
       ]
      }
     }
    },
    "scopes": {
     "type": "array",
     "items": {
      "type": "string"
     }
    },
    "rate_limit": {
     "type": "object",
     "properties": {
      "limit": {
       "type": "integer"
      },
      "window_seconds": {
       "type": "integer"
      }
     }
    }
   }
  }
 },
 {
  "name": "webhooks_list",
  "description": "List webhooks.",
  "isWriting": false,
  "method": "GET",
  "path": "/v1/webhooks",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "limit": {
     "description": "How many items the page has at most.",
     "type": "integer",
     "minimum": 1,
     "maximum": 50,
     "default": 20
    },
    "cursor": {
     "description": "`next_cursor` of the page before, with the same filters.",
     "type": "string"
    },
    "enabled": {
     "description": "Only enabled webhooks (`true`), or only disabled ones (`false`).",
     "type": "boolean"
    }
   },
   "required": [],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "object": {
     "type": "string"
    },
    "data": {
     "type": "array",
     "items": {
      "type": "object",
      "properties": {
       "id": {
        "type": "string"
       },
       "object": {
        "type": "string"
       },
       "url": {
        "type": "string"
       },
       "events": {
        "type": "array",
        "items": {
         "type": "string"
        }
       },
       "description": {
        "type": [
         "string",
         "null"
        ]
       },
       "enabled": {
        "type": "boolean"
       },
       "disabled_reason": {
        "type": [
         "string",
         "null"
        ]
       },
       "failing_since": {
        "type": [
         "string",
         "null"
        ]
       },
       "disable_at": {
        "type": [
         "string",
         "null"
        ]
       },
       "rate_limit_per_second": {
        "type": [
         "integer",
         "null"
        ]
       },
       "max_in_flight": {
        "type": [
         "integer",
         "null"
        ]
       },
       "auto_recover": {
        "type": "boolean"
       },
       "header_names": {
        "type": "array",
        "items": {
         "type": "string"
        }
       },
       "paused": {
        "type": [
         "object",
         "null"
        ],
        "properties": {
         "since": {
          "type": "string"
         },
         "resume_at": {
          "type": "string"
         },
         "reason": {
          "type": [
           "string",
           "null"
          ]
         }
        }
       },
       "previous_secret_expires_at": {
        "type": [
         "string",
         "null"
        ]
       },
       "created_at": {
        "type": "string"
       },
       "updated_at": {
        "type": "string"
       }
      }
     }
    },
    "has_more": {
     "type": "boolean"
    },
    "next_cursor": {
     "type": [
      "string",
      "null"
     ]
    }
   }
  }
 },
 {
  "name": "webhook_get",
  "description": "Read a webhook.",
  "isWriting": false,
  "method": "GET",
  "path": "/v1/webhooks/{id}",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string",
     "pattern": "^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    }
   },
   "required": [
    "id"
   ],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string"
    },
    "object": {
     "type": "string"
    },
    "url": {
     "type": "string"
    },
    "events": {
     "type": "array",
     "items": {
      "type": "string"
     }
    },
    "description": {
     "type": [
      "string",
      "null"
     ]
    },
    "enabled": {
     "type": "boolean"
    },
    "disabled_reason": {
     "type": [
      "string",
      "null"
     ]
    },
    "failing_since": {
     "type": [
      "string",
      "null"
     ]
    },
    "disable_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "rate_limit_per_second": {
     "type": [
      "integer",
      "null"
     ]
    },
    "max_in_flight": {
     "type": [
      "integer",
      "null"
     ]
    },
    "auto_recover": {
     "type": "boolean"
    },
    "header_names": {
     "type": "array",
     "items": {
      "type": "string"
     }
    },
    "paused": {
     "type": [
      "object",
      "null"
     ],
     "properties": {
      "since": {
       "type": "string"
      },
      "resume_at": {
       "type": "string"
      },
      "reason": {
       "type": [
        "string",
        "null"
       ]
      }
     }
    },
    "previous_secret_expires_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "created_at": {
     "type": "string"
    },
    "updated_at": {
     "type": "string"
    }
   }
  }
 },
 {
  "name": "webhook_health",
  "description": "Read the health of a webhook. Whether its deliveries arrive, why attempts failed in the last 24 hours, and what to do about it.",
  "isWriting": false,
  "method": "GET",
  "path": "/v1/webhooks/{id}/health",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string",
     "pattern": "^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    }
   },
   "required": [
    "id"
   ],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "object": {
     "type": "string"
    },
    "webhook_id": {
     "type": "string"
    },
    "state": {
     "type": "string"
    },
    "since": {
     "type": [
      "string",
      "null"
     ]
    },
    "last_success_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "last_failure_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "failing_since": {
     "type": [
      "string",
      "null"
     ]
    },
    "disable_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "circuit": {
     "type": "object",
     "properties": {
      "state": {
       "type": "string"
      },
      "next_attempt_at": {
       "type": [
        "string",
        "null"
       ]
      }
     }
    },
    "pending": {
     "type": "integer"
    },
    "oldest_pending_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "oldest_waiting_for": {
     "type": [
      "string",
      "null"
     ]
    },
    "causes": {
     "type": "array",
     "items": {
      "type": "object",
      "properties": {
       "error": {
        "type": "string"
       },
       "status_code": {
        "type": [
         "integer",
         "null"
        ]
       },
       "count": {
        "type": "integer"
       },
       "last_at": {
        "type": "string"
       },
       "delivery_id": {
        "type": "string"
       },
       "hint": {
        "type": "string"
       }
      }
     }
    }
   }
  }
 },
 {
  "name": "event_explain",
  "description": "Explain which webhooks got an event. Says for each webhook whether it got the event, and why. The configuration at the time of the fan-out counts.",
  "isWriting": false,
  "method": "GET",
  "path": "/v1/events/{event_id}/explain",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "event_id": {
     "type": "string",
     "pattern": "^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    },
    "webhook_id": {
     "description": "Only this webhook.",
     "type": "string",
     "pattern": "^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    }
   },
   "required": [
    "event_id"
   ],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "object": {
     "type": "string"
    },
    "event_id": {
     "type": [
      "string",
      "null"
     ]
    },
    "event_type": {
     "type": "string"
    },
    "created_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "fanned_out_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "data": {
     "type": "array",
     "items": {
      "type": "object",
      "properties": {
       "webhook_id": {
        "type": "string"
       },
       "outcome": {
        "type": "string"
       },
       "reason": {
        "type": [
         "string",
         "null"
        ]
       },
       "message": {
        "type": "string"
       },
       "certain": {
        "type": "boolean"
       },
       "delivery_id": {
        "type": [
         "string",
         "null"
        ]
       },
       "next_attempt_at": {
        "type": [
         "string",
         "null"
        ]
       },
       "waiting_for": {
        "type": [
         "string",
         "null"
        ]
       }
      }
     }
    }
   }
  }
 },
 {
  "name": "event_get",
  "description": "Read an event.",
  "isWriting": false,
  "method": "GET",
  "path": "/v1/events/{id}",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string",
     "pattern": "^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    }
   },
   "required": [
    "id"
   ],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string"
    },
    "object": {
     "type": "string"
    },
    "type": {
     "type": "string"
    },
    "subject": {
     "type": [
      "string",
      "null"
     ]
    },
    "created_at": {
     "type": "string"
    },
    "occurred_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "data": {
     "type": [
      "object",
      "null"
     ]
    },
    "erased_at": {
     "type": [
      "string",
      "null"
     ]
    }
   }
  }
 },
 {
  "name": "events_list",
  "description": "List events. With `order=asc` every page has a `next_cursor`, so you can follow new events: each appears exactly once. If a cursor is older than retention, the answer is 410.",
  "isWriting": false,
  "method": "GET",
  "path": "/v1/events",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "limit": {
     "description": "How many items the page has at most.",
     "type": "integer",
     "minimum": 1,
     "maximum": 50,
     "default": 20
    },
    "cursor": {
     "description": "`next_cursor` of the page before, with the same filters.",
     "type": "string"
    },
    "order": {
     "description": "The newest first (`desc`), or the oldest first (`asc`). With `asc` every page has a `next_cursor`, also the last and an empty one.",
     "default": "desc",
     "type": "string",
     "enum": [
      "asc",
      "desc"
     ]
    },
    "type": {
     "minItems": 1,
     "maxItems": 20,
     "type": "array",
     "items": {
      "type": "string",
      "enum": [
       "consultation.completed",
       "consultation.failed",
       "batch.completed",
       "batch.failed",
       "batch.partial_failure",
       "webhook.failing",
       "webhook.disabled",
       "webhook.recovered",
       "api_key.expiring",
       "api_key.expired",
       "replay.finished"
      ],
      "description": "A type of event that webhooks can subscribe to."
     }
    },
    "subject": {
     "description": "Only with this subject, such as a `consultation_id` or a `batch_id`, exactly.",
     "type": "string",
     "minLength": 1,
     "maxLength": 200
    },
    "since": {
     "description": "Only objects created at this time or later.",
     "type": "string",
     "format": "date-time"
    },
    "until": {
     "description": "Only objects created before this time.",
     "type": "string",
     "format": "date-time"
    }
   },
   "required": [],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "object": {
     "type": "string"
    },
    "data": {
     "type": "array",
     "items": {
      "type": "object",
      "properties": {
       "id": {
        "type": "string"
       },
       "object": {
        "type": "string"
       },
       "type": {
        "type": "string"
       },
       "subject": {
        "type": [
         "string",
         "null"
        ]
       },
       "created_at": {
        "type": "string"
       },
       "occurred_at": {
        "type": [
         "string",
         "null"
        ]
       },
       "data": {
        "type": [
         "object",
         "null"
        ]
       },
       "erased_at": {
        "type": [
         "string",
         "null"
        ]
       }
      }
     }
    },
    "has_more": {
     "type": "boolean"
    },
    "next_cursor": {
     "type": [
      "string",
      "null"
     ]
    },
    "searched_until": {
     "type": [
      "string",
      "null"
     ]
    }
   }
  }
 },
 {
  "name": "event_types_list",
  "description": "List event types.",
  "isWriting": false,
  "method": "GET",
  "path": "/v1/webhooks/event-types",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "limit": {
     "description": "How many items the page has at most.",
     "type": "integer",
     "minimum": 1,
     "maximum": 50,
     "default": 20
    },
    "cursor": {
     "description": "`next_cursor` of the page before, with the same filters.",
     "type": "string"
    }
   },
   "required": [],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "object": {
     "type": "string"
    },
    "data": {
     "type": "array",
     "items": {
      "type": "object",
      "properties": {
       "object": {
        "type": "string"
       },
       "type": {
        "type": "string"
       },
       "description": {
        "type": "string"
       },
       "schema": {
        "type": "object"
       },
       "example": {}
      }
     }
    },
    "has_more": {
     "type": "boolean"
    },
    "next_cursor": {
     "type": [
      "string",
      "null"
     ]
    }
   }
  }
 },
 {
  "name": "deliveries_list",
  "description": "List deliveries.",
  "isWriting": false,
  "method": "GET",
  "path": "/v1/webhooks/deliveries",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "limit": {
     "description": "How many items the page has at most.",
     "type": "integer",
     "minimum": 1,
     "maximum": 50,
     "default": 20
    },
    "cursor": {
     "description": "`next_cursor` of the page before, with the same filters.",
     "type": "string"
    },
    "order": {
     "description": "By `created_at`: the newest first (`desc`), or the oldest (`asc`).",
     "default": "desc",
     "type": "string",
     "enum": [
      "asc",
      "desc"
     ]
    },
    "id": {
     "description": "Only these deliveries.",
     "minItems": 1,
     "maxItems": 100,
     "type": "array",
     "items": {
      "type": "string",
      "pattern": "^dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$",
      "description": "Id of the delivery."
     }
    },
    "webhook_id": {
     "description": "Id of the webhook.",
     "type": "string",
     "pattern": "^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    },
    "event_id": {
     "description": "Id of the event.",
     "type": "string",
     "pattern": "^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    },
    "event_type": {
     "description": "With `webhook_id` or `status` a search, unless the page is read within half a second.",
     "minItems": 1,
     "maxItems": 20,
     "type": "array",
     "items": {
      "type": "string",
      "enum": [
       "consultation.completed",
       "consultation.failed",
       "batch.completed",
       "batch.failed",
       "batch.partial_failure",
       "webhook.test",
       "webhook.failing",
       "webhook.disabled",
       "webhook.recovered",
       "api_key.expiring",
       "api_key.expired",
       "replay.finished"
      ],
      "description": "The type of an event. `webhook.test` is sent by the test endpoint alone."
     }
    },
    "subject": {
     "description": "Only with this subject, such as a `consultation_id` or a `batch_id`, exactly.",
     "type": "string",
     "minLength": 1,
     "maxLength": 200
    },
    "status": {
     "minItems": 1,
     "maxItems": 20,
     "type": "array",
     "items": {
      "type": "string",
      "enum": [
       "pending",
       "succeeded",
       "failed",
       "canceled"
      ],
      "description": "`pending` waits for an attempt, the first or the next. The others are final until a retry or a replay."
     }
    },
    "last_status_code": {
     "description": "Only if the last answer had this status (`503`, `5xx`). A search, because no index finds it.",
     "type": "string",
     "pattern": "^[1-5](\\d\\d|xx)$"
    },
    "last_error": {
     "description": "Only deliveries with this `last_error`. Also a search.",
     "minItems": 1,
     "maxItems": 20,
     "type": "array",
     "items": {
      "type": "string",
      "enum": [
       "timeout",
       "dns_failed",
       "connection_refused",
       "connection_reset",
       "tls_failed",
       "destination_blocked",
       "redirect",
       "http_error",
       "response_invalid",
       "secret_unavailable"
      ],
      "description": "Why an attempt did not succeed."
     }
    },
    "since": {
     "description": "Only objects created at this time or later.",
     "type": "string",
     "format": "date-time"
    },
    "until": {
     "description": "Only objects created before this time.",
     "type": "string",
     "format": "date-time"
    }
   },
   "required": [],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "object": {
     "type": "string"
    },
    "data": {
     "type": "array",
     "items": {
      "type": "object",
      "properties": {
       "id": {
        "type": "string"
       },
       "object": {
        "type": "string"
       },
       "webhook_id": {
        "type": "string"
       },
       "event_id": {
        "type": "string"
       },
       "event_type": {
        "type": "string"
       },
       "subject": {
        "type": [
         "string",
         "null"
        ]
       },
       "status": {
        "type": "string"
       },
       "canceled_reason": {
        "type": [
         "string",
         "null"
        ]
       },
       "attempt_count": {
        "type": "integer"
       },
       "max_attempts": {
        "type": "integer"
       },
       "next_attempt_at": {
        "type": [
         "string",
         "null"
        ]
       },
       "waiting_for": {
        "type": [
         "string",
         "null"
        ]
       },
       "last_status_code": {
        "type": [
         "integer",
         "null"
        ]
       },
       "last_error": {
        "type": [
         "string",
         "null"
        ]
       },
       "last_duration_ms": {
        "type": [
         "integer",
         "null"
        ]
       },
       "test": {
        "type": "boolean"
       },
       "created_at": {
        "type": "string"
       },
       "completed_at": {
        "type": [
         "string",
         "null"
        ]
       }
      }
     }
    },
    "has_more": {
     "type": "boolean"
    },
    "next_cursor": {
     "type": [
      "string",
      "null"
     ]
    },
    "searched_until": {
     "type": [
      "string",
      "null"
     ]
    }
   }
  }
 },
 {
  "name": "delivery_get",
  "description": "Read a delivery.",
  "isWriting": false,
  "method": "GET",
  "path": "/v1/webhooks/deliveries/{id}",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string",
     "pattern": "^dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    }
   },
   "required": [
    "id"
   ],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string"
    },
    "object": {
     "type": "string"
    },
    "webhook_id": {
     "type": "string"
    },
    "event_id": {
     "type": "string"
    },
    "event_type": {
     "type": "string"
    },
    "subject": {
     "type": [
      "string",
      "null"
     ]
    },
    "status": {
     "type": "string"
    },
    "canceled_reason": {
     "type": [
      "string",
      "null"
     ]
    },
    "attempt_count": {
     "type": "integer"
    },
    "max_attempts": {
     "type": "integer"
    },
    "next_attempt_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "waiting_for": {
     "type": [
      "string",
      "null"
     ]
    },
    "last_status_code": {
     "type": [
      "integer",
      "null"
     ]
    },
    "last_error": {
     "type": [
      "string",
      "null"
     ]
    },
    "last_duration_ms": {
     "type": [
      "integer",
      "null"
     ]
    },
    "test": {
     "type": "boolean"
    },
    "created_at": {
     "type": "string"
    },
    "completed_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "attempts": {
     "type": "array",
     "items": {
      "type": "object",
      "properties": {
       "id": {
        "type": "string"
       },
       "number": {
        "type": "integer"
       },
       "superseded": {
        "type": "boolean"
       },
       "trigger": {
        "type": "string"
       },
       "started_at": {
        "type": "string"
       },
       "duration_ms": {
        "type": "integer"
       },
       "status_code": {
        "type": [
         "integer",
         "null"
        ]
       },
       "error": {
        "type": [
         "string",
         "null"
        ]
       },
       "error_message": {
        "type": [
         "string",
         "null"
        ]
       },
       "response_body": {
        "type": [
         "string",
         "null"
        ]
       },
       "response_headers": {
        "type": [
         "object",
         "null"
        ]
       },
       "remote_address": {
        "type": [
         "string",
         "null"
        ]
       },
       "url": {
        "type": [
         "string",
         "null"
        ]
       },
       "timings": {
        "type": "object",
        "properties": {
         "dns_ms": {
          "type": [
           "number",
           "null"
          ]
         },
         "connect_ms": {
          "type": [
           "number",
           "null"
          ]
         },
         "tls_ms": {
          "type": [
           "number",
           "null"
          ]
         },
         "first_byte_ms": {
          "type": [
           "number",
           "null"
          ]
         }
        }
       }
      }
     }
    },
    "request": {
     "type": "object",
     "properties": {
      "body": {
       "type": [
        "string",
        "null"
       ]
      }
     }
    }
   }
  }
 },
 {
  "name": "statistics_get",
  "description": "Read statistics of attempts. How many attempts started, succeeded and failed, how long they took, and how long events waited for their first one. Superseded attempts count, tests do not.",
  "isWriting": false,
  "method": "GET",
  "path": "/v1/webhooks/statistics",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "since": {
     "description": "A whole minute; 24 hours before `until` by default.",
     "type": "string",
     "format": "date-time"
    },
    "until": {
     "description": "A whole minute; the end of this minute by default.",
     "type": "string",
     "format": "date-time"
    },
    "granularity": {
     "description": "At most 1,000 minutes, hours or days (UTC) in one answer.",
     "default": "hour",
     "type": "string",
     "enum": [
      "minute",
      "hour",
      "day"
     ]
    },
    "webhook_id": {
     "description": "Id of the webhook.",
     "type": "string",
     "pattern": "^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    },
    "group_by": {
     "description": "Splits each minute, hour or day.",
     "type": "string",
     "enum": [
      "webhook",
      "event_type",
      "error"
     ]
    }
   },
   "required": [],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "object": {
     "type": "string"
    },
    "since": {
     "type": "string"
    },
    "until": {
     "type": "string"
    },
    "granularity": {
     "type": "string"
    },
    "complete_until": {
     "type": "string"
    },
    "data": {
     "type": "array",
     "items": {
      "type": "object",
      "properties": {
       "start": {
        "type": "string"
       },
       "webhook_id": {
        "type": "string"
       },
       "event_type": {
        "type": "string"
       },
       "error": {
        "type": [
         "string",
         "null"
        ]
       },
       "attempts": {
        "type": "integer"
       },
       "succeeded": {
        "type": "integer"
       },
       "failed": {
        "type": "integer"
       },
       "duration_ms": {
        "type": "object",
        "properties": {
         "p50": {
          "type": [
           "integer",
           "null"
          ]
         },
         "p95": {
          "type": [
           "integer",
           "null"
          ]
         },
         "p99": {
          "type": [
           "integer",
           "null"
          ]
         }
        }
       },
       "lag_ms": {
        "type": "object",
        "properties": {
         "p50": {
          "type": [
           "integer",
           "null"
          ]
         },
         "p95": {
          "type": [
           "integer",
           "null"
          ]
         },
         "p99": {
          "type": [
           "integer",
           "null"
          ]
         }
        }
       }
      }
     }
    },
    "totals": {
     "type": "object",
     "properties": {
      "attempts": {
       "type": "integer"
      },
      "succeeded": {
       "type": "integer"
      },
      "failed": {
       "type": "integer"
      },
      "duration_ms": {
       "type": "object",
       "properties": {
        "p50": {
         "type": [
          "integer",
          "null"
         ]
        },
        "p95": {
         "type": [
          "integer",
          "null"
         ]
        },
        "p99": {
         "type": [
          "integer",
          "null"
         ]
        }
       }
      },
      "lag_ms": {
       "type": "object",
       "properties": {
        "p50": {
         "type": [
          "integer",
          "null"
         ]
        },
        "p95": {
         "type": [
          "integer",
          "null"
         ]
        },
        "p99": {
         "type": [
          "integer",
          "null"
         ]
        }
       }
      }
     }
    }
   }
  }
 },
 {
  "name": "signature_verify",
  "description": "Find out why a signature is refused. Send the headers and the body that your receiver got, and the signature that it computed. The request has at most 512 KiB; an organization may send 30 per minute.",
  "isWriting": false,
  "method": "POST",
  "path": "/v1/webhooks/{id}/verify-signature",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string",
     "pattern": "^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    },
    "headers": {
     "description": "The headers as your receiver got them, with names in any case.",
     "type": "object",
     "additionalProperties": {
      "anyOf": [
       {
        "type": "string"
       },
       {
        "type": "array",
        "items": {
         "type": "string"
        }
       }
      ]
     }
    },
    "body": {
     "description": "The body that your code verifies, as text.",
     "type": "string"
    },
    "body_base64": {
     "description": "Instead of `body`: its bytes in base64.",
     "type": "string",
     "contentEncoding": "base64"
    },
    "computed": {
     "description": "The signature that your code computed.",
     "type": "string",
     "maxLength": 1000
    }
   },
   "required": [
    "id",
    "headers"
   ],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "object": {
     "type": "string"
    },
    "valid": {
     "type": "boolean"
    },
    "delivery_id": {
     "type": [
      "string",
      "null"
     ]
    },
    "checks": {
     "type": "array",
     "items": {
      "type": "object",
      "properties": {
       "header": {
        "type": "string"
       },
       "cause": {
        "type": "string"
       },
       "message": {
        "type": "string"
       },
       "webhook_id": {
        "type": "string"
       },
       "seconds": {
        "type": "integer"
       }
      }
     }
    },
    "computed": {
     "type": [
      "string",
      "null"
     ]
    }
   }
  }
 },
 {
  "name": "usage_get",
  "description": "Read usage. The usage of the organization by hour, day or month. If a service owns the area `usage`, the request is forwarded to it, and that service defines the answer.",
  "isWriting": false,
  "method": "GET",
  "path": "/v1/usage",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "since": {
     "description": "A whole hour in UTC; the beginning of this month by default.",
     "type": "string",
     "format": "date-time"
    },
    "until": {
     "description": "A whole hour in UTC; the end of this month by default.",
     "type": "string",
     "format": "date-time"
    },
    "granularity": {
     "description": "At most 1,000 hours, days or months in one answer.",
     "default": "day",
     "type": "string",
     "enum": [
      "hour",
      "day",
      "month"
     ]
    },
    "group_by": {
     "description": "Splits each hour, day or month by API key or by area.",
     "type": "string",
     "enum": [
      "key",
      "area"
     ]
    }
   },
   "required": [],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "object": {
     "type": "string"
    },
    "organization_id": {
     "type": "string"
    },
    "plan": {
     "type": "string"
    },
    "rate_limit": {
     "type": "object",
     "properties": {
      "limit": {
       "type": "integer"
      },
      "window_seconds": {
       "type": "integer"
      }
     }
    },
    "since": {
     "type": "string"
    },
    "until": {
     "type": "string"
    },
    "granularity": {
     "type": "string"
    },
    "data": {
     "type": "array",
     "items": {
      "type": "object",
      "properties": {
       "start": {
        "type": "string"
       },
       "key_id": {
        "type": [
         "string",
         "null"
        ]
       },
       "area": {
        "type": "string"
       },
       "requests": {
        "type": "integer"
       },
       "refused": {
        "type": "integer"
       },
       "bytes_in": {
        "type": "integer"
       },
       "bytes_out": {
        "type": "integer"
       },
       "events": {
        "type": "integer"
       },
       "deliveries": {
        "type": "integer"
       },
       "attempts": {
        "type": "integer"
       }
      }
     }
    },
    "totals": {
     "type": "object",
     "properties": {
      "requests": {
       "type": "integer"
      },
      "refused": {
       "type": "integer"
      },
      "bytes_in": {
       "type": "integer"
      },
      "bytes_out": {
       "type": "integer"
      },
      "events": {
       "type": "integer"
      },
      "deliveries": {
       "type": "integer"
      },
      "attempts": {
       "type": "integer"
      }
     }
    }
   }
  }
 },
 {
  "name": "webhook_update",
  "description": "Update a webhook. PUT and PATCH do the same: omitted fields keep their values. Disabling cancels pending deliveries.",
  "isWriting": true,
  "method": "PATCH",
  "path": "/v1/webhooks/{id}",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string",
     "pattern": "^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    },
    "url": {
     "type": "string",
     "description": "Where deliveries are sent: https, a public host, no credentials, no fragment, port 443 or 1024 to 65535, at most 2,048 characters."
    },
    "events": {
     "minItems": 1,
     "maxItems": 50,
     "type": "array",
     "items": {
      "type": "string",
      "enum": [
       "consultation.completed",
       "consultation.failed",
       "batch.completed",
       "batch.failed",
       "batch.partial_failure",
       "webhook.failing",
       "webhook.disabled",
       "webhook.recovered",
       "api_key.expiring",
       "api_key.expired",
       "replay.finished",
       "consultation.*",
       "batch.*",
       "*"
      ],
      "description": "A type of event, a family of types, or `*` for all types of consultations and batches."
     },
     "description": "The types and wildcards that the webhook subscribes to.",
     "uniqueItems": true
    },
    "description": {
     "type": [
      "string",
      "null"
     ],
     "maxLength": 500,
     "description": "The owner's own note."
    },
    "enabled": {
     "type": "boolean",
     "description": "Whether new events are delivered."
    },
    "rate_limit_per_second": {
     "type": [
      "integer",
      "null"
     ],
     "minimum": 1,
     "maximum": 1000,
     "description": "At most this many attempts start in a second; null: no limit. Tests are exempt."
    },
    "max_in_flight": {
     "type": [
      "integer",
      "null"
     ],
     "minimum": 1,
     "maximum": 50,
     "description": "At most this many attempts run at a time; null: no limit but the service's own. Tests are exempt."
    },
    "auto_recover": {
     "type": "boolean",
     "description": "Whether we send hourly tests for a week after we disabled it as `failing`, and enable it once one succeeds. Not with `headers`."
    }
   },
   "required": [
    "id"
   ],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string"
    },
    "object": {
     "type": "string"
    },
    "url": {
     "type": "string"
    },
    "events": {
     "type": "array",
     "items": {
      "type": "string"
     }
    },
    "description": {
     "type": [
      "string",
      "null"
     ]
    },
    "enabled": {
     "type": "boolean"
    },
    "disabled_reason": {
     "type": [
      "string",
      "null"
     ]
    },
    "failing_since": {
     "type": [
      "string",
      "null"
     ]
    },
    "disable_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "rate_limit_per_second": {
     "type": [
      "integer",
      "null"
     ]
    },
    "max_in_flight": {
     "type": [
      "integer",
      "null"
     ]
    },
    "auto_recover": {
     "type": "boolean"
    },
    "header_names": {
     "type": "array",
     "items": {
      "type": "string"
     }
    },
    "paused": {
     "type": [
      "object",
      "null"
     ],
     "properties": {
      "since": {
       "type": "string"
      },
      "resume_at": {
       "type": "string"
      },
      "reason": {
       "type": [
        "string",
        "null"
       ]
      }
     }
    },
    "previous_secret_expires_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "created_at": {
     "type": "string"
    },
    "updated_at": {
     "type": "string"
    }
   }
  }
 },
 {
  "name": "webhook_pause",
  "description": "Pause a webhook. Within a second the service sends only tests. Running attempts end. Deliveries wait and spend no attempt. A second pause keeps `since`. Disabling the webhook ends the pause.",
  "isWriting": true,
  "method": "POST",
  "path": "/v1/webhooks/{id}/pause",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string",
     "pattern": "^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    },
    "resume_at": {
     "description": "When the pause ends: at most 7 days ahead; by default in 24 hours.",
     "type": "string",
     "format": "date-time"
    },
    "reason": {
     "description": "Why, for people.",
     "type": "string",
     "maxLength": 200
    }
   },
   "required": [
    "id"
   ],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string"
    },
    "object": {
     "type": "string"
    },
    "url": {
     "type": "string"
    },
    "events": {
     "type": "array",
     "items": {
      "type": "string"
     }
    },
    "description": {
     "type": [
      "string",
      "null"
     ]
    },
    "enabled": {
     "type": "boolean"
    },
    "disabled_reason": {
     "type": [
      "string",
      "null"
     ]
    },
    "failing_since": {
     "type": [
      "string",
      "null"
     ]
    },
    "disable_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "rate_limit_per_second": {
     "type": [
      "integer",
      "null"
     ]
    },
    "max_in_flight": {
     "type": [
      "integer",
      "null"
     ]
    },
    "auto_recover": {
     "type": "boolean"
    },
    "header_names": {
     "type": "array",
     "items": {
      "type": "string"
     }
    },
    "paused": {
     "type": [
      "object",
      "null"
     ],
     "properties": {
      "since": {
       "type": "string"
      },
      "resume_at": {
       "type": "string"
      },
      "reason": {
       "type": [
        "string",
        "null"
       ]
      }
     }
    },
    "previous_secret_expires_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "created_at": {
     "type": "string"
    },
    "updated_at": {
     "type": "string"
    }
   }
  }
 },
 {
  "name": "webhook_resume",
  "description": "Resume a webhook. Sends the deliveries that waited, at the pace of normal traffic or at `rate_per_second`.",
  "isWriting": true,
  "method": "POST",
  "path": "/v1/webhooks/{id}/resume",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string",
     "pattern": "^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    },
    "rate_per_second": {
     "description": "At most this many attempts start in a second until the deliveries of the pause have been sent.",
     "type": "integer",
     "minimum": 1,
     "maximum": 1000
    }
   },
   "required": [
    "id"
   ],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string"
    },
    "object": {
     "type": "string"
    },
    "url": {
     "type": "string"
    },
    "events": {
     "type": "array",
     "items": {
      "type": "string"
     }
    },
    "description": {
     "type": [
      "string",
      "null"
     ]
    },
    "enabled": {
     "type": "boolean"
    },
    "disabled_reason": {
     "type": [
      "string",
      "null"
     ]
    },
    "failing_since": {
     "type": [
      "string",
      "null"
     ]
    },
    "disable_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "rate_limit_per_second": {
     "type": [
      "integer",
      "null"
     ]
    },
    "max_in_flight": {
     "type": [
      "integer",
      "null"
     ]
    },
    "auto_recover": {
     "type": "boolean"
    },
    "header_names": {
     "type": "array",
     "items": {
      "type": "string"
     }
    },
    "paused": {
     "type": [
      "object",
      "null"
     ],
     "properties": {
      "since": {
       "type": "string"
      },
      "resume_at": {
       "type": "string"
      },
      "reason": {
       "type": [
        "string",
        "null"
       ]
      }
     }
    },
    "previous_secret_expires_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "created_at": {
     "type": "string"
    },
    "updated_at": {
     "type": "string"
    }
   }
  }
 },
 {
  "name": "webhook_test",
  "description": "Test a webhook. Sends an example of any type, whether or not the webhook is enabled and subscribes to it. Ids in its data begin with `test_`, its body contains `\"test\": true`, and its request has the header `X-Service-Test: true`. The webhook gets one attempt, which does not affect its health.",
  "isWriting": true,
  "method": "POST",
  "path": "/v1/webhooks/{id}/test",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string",
     "pattern": "^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    },
    "type": {
     "type": "string",
     "enum": [
      "consultation.completed",
      "consultation.failed",
      "batch.completed",
      "batch.failed",
      "batch.partial_failure",
      "webhook.test",
      "webhook.failing",
      "webhook.disabled",
      "webhook.recovered",
      "api_key.expiring",
      "api_key.expired",
      "replay.finished"
     ],
     "description": "The type of the event that is sent.",
     "default": "webhook.test"
    }
   },
   "required": [
    "id"
   ],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string"
    },
    "object": {
     "type": "string"
    },
    "webhook_id": {
     "type": "string"
    },
    "event_id": {
     "type": "string"
    },
    "event_type": {
     "type": "string"
    },
    "subject": {
     "type": [
      "string",
      "null"
     ]
    },
    "status": {
     "type": "string"
    },
    "canceled_reason": {
     "type": [
      "string",
      "null"
     ]
    },
    "attempt_count": {
     "type": "integer"
    },
    "max_attempts": {
     "type": "integer"
    },
    "next_attempt_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "waiting_for": {
     "type": [
      "string",
      "null"
     ]
    },
    "last_status_code": {
     "type": [
      "integer",
      "null"
     ]
    },
    "last_error": {
     "type": [
      "string",
      "null"
     ]
    },
    "last_duration_ms": {
     "type": [
      "integer",
      "null"
     ]
    },
    "test": {
     "type": "boolean"
    },
    "created_at": {
     "type": "string"
    },
    "completed_at": {
     "type": [
      "string",
      "null"
     ]
    }
   }
  }
 },
 {
  "name": "delivery_retry",
  "description": "Retry a delivery. Sends the delivery again, with a fresh retry schedule. Returns 409 `conflict` if the delivery is pending, if its event is no longer stored, or if its webhook is not enabled.",
  "isWriting": true,
  "method": "POST",
  "path": "/v1/webhooks/deliveries/{id}/retry",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string",
     "pattern": "^dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    }
   },
   "required": [
    "id"
   ],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string"
    },
    "object": {
     "type": "string"
    },
    "webhook_id": {
     "type": "string"
    },
    "event_id": {
     "type": "string"
    },
    "event_type": {
     "type": "string"
    },
    "subject": {
     "type": [
      "string",
      "null"
     ]
    },
    "status": {
     "type": "string"
    },
    "canceled_reason": {
     "type": [
      "string",
      "null"
     ]
    },
    "attempt_count": {
     "type": "integer"
    },
    "max_attempts": {
     "type": "integer"
    },
    "next_attempt_at": {
     "type": [
      "string",
      "null"
     ]
    },
    "waiting_for": {
     "type": [
      "string",
      "null"
     ]
    },
    "last_status_code": {
     "type": [
      "integer",
      "null"
     ]
    },
    "last_error": {
     "type": [
      "string",
      "null"
     ]
    },
    "last_duration_ms": {
     "type": [
      "integer",
      "null"
     ]
    },
    "test": {
     "type": "boolean"
    },
    "created_at": {
     "type": "string"
    },
    "completed_at": {
     "type": [
      "string",
      "null"
     ]
    }
   }
  }
 },
 {
  "name": "replay_preview",
  "description": "Say what a replay would send, and send nothing. Sends the deliveries of a period again, at the pace of normal traffic or at `rate_per_second`. Default: failed and canceled deliveries. `skipped` sends events that the webhook never got. `pending` ends the wait for the next attempt. Never sends tests, erased events or events past retention. Overlapping replays send each delivery once. The answer to a dry run is 200, with what would be sent.",
  "isWriting": true,
  "method": "POST",
  "path": "/v1/webhooks/{id}/replay",
  "given": {
   "dry_run": true
  },
  "input": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string",
     "pattern": "^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    },
    "since": {
     "description": "Only deliveries, or skipped events, that were created at this time or later. 400 if 30 seconds do not suffice to read them: choose a shorter period.",
     "type": "string",
     "format": "date-time"
    },
    "until": {
     "description": "Only objects created before this time.",
     "type": "string",
     "format": "date-time"
    },
    "status": {
     "default": [
      "failed",
      "canceled"
     ],
     "description": "Which deliveries are sent again. `skipped`: events since the webhook was created that match it now and have no delivery to it. `pending`: waiting deliveries become due now, and keep their remaining attempts.",
     "minItems": 1,
     "maxItems": 5,
     "type": "array",
     "items": {
      "type": "string",
      "enum": [
       "failed",
       "canceled",
       "succeeded",
       "skipped",
       "pending"
      ]
     }
    },
    "event_type": {
     "description": "Only events of these types.",
     "minItems": 1,
     "maxItems": 50,
     "type": "array",
     "items": {
      "type": "string",
      "enum": [
       "consultation.completed",
       "consultation.failed",
       "batch.completed",
       "batch.failed",
       "batch.partial_failure",
       "webhook.test",
       "webhook.failing",
       "webhook.disabled",
       "webhook.recovered",
       "api_key.expiring",
       "api_key.expired",
       "replay.finished"
      ],
      "description": "The type of an event. `webhook.test` is sent by the test endpoint alone."
     }
    },
    "error": {
     "description": "Only deliveries whose `last_error` is one of these. Leaves skipped events out.",
     "minItems": 1,
     "maxItems": 50,
     "type": "array",
     "items": {
      "type": "string",
      "enum": [
       "timeout",
       "dns_failed",
       "connection_refused",
       "connection_reset",
       "tls_failed",
       "destination_blocked",
       "redirect",
       "http_error",
       "response_invalid",
       "secret_unavailable"
      ],
      "description": "Why an attempt did not succeed."
     }
    },
    "status_code": {
     "description": "Only deliveries whose `last_status_code` is one of these. Leaves skipped events out.",
     "minItems": 1,
     "maxItems": 500,
     "type": "array",
     "items": {
      "type": "integer",
      "minimum": 100,
      "maximum": 599
     }
    },
    "rate_per_second": {
     "type": [
      "integer",
      "null"
     ],
     "minimum": 1,
     "maximum": 1000,
     "default": null,
     "description": "Spreads the first attempts: at most this many become due in a second. Pending deliveries keep an earlier due time. Null: all are due at once."
    }
   },
   "required": [
    "id",
    "since"
   ],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "object": {
     "type": "string"
    },
    "matched": {
     "type": "integer"
    },
    "has_more": {
     "type": "boolean"
    },
    "by_status": {
     "type": "object"
    },
    "by_event_type": {
     "type": "object"
    },
    "sample": {
     "type": "array",
     "items": {
      "type": "string"
     }
    },
    "estimated_seconds": {
     "type": [
      "integer",
      "null"
     ]
    }
   }
  }
 },
 {
  "name": "replay_create",
  "description": "Replay the deliveries of a webhook. Sends the deliveries of a period again, at the pace of normal traffic or at `rate_per_second`. Default: failed and canceled deliveries. `skipped` sends events that the webhook never got. `pending` ends the wait for the next attempt. Never sends tests, erased events or events past retention. Overlapping replays send each delivery once. The answer to a dry run is 200, with what would be sent.",
  "isWriting": true,
  "method": "POST",
  "path": "/v1/webhooks/{id}/replay",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string",
     "pattern": "^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    },
    "since": {
     "description": "Only deliveries, or skipped events, that were created at this time or later. 400 if 30 seconds do not suffice to read them: choose a shorter period.",
     "type": "string",
     "format": "date-time"
    },
    "until": {
     "description": "Only objects created before this time.",
     "type": "string",
     "format": "date-time"
    },
    "status": {
     "default": [
      "failed",
      "canceled"
     ],
     "description": "Which deliveries are sent again. `skipped`: events since the webhook was created that match it now and have no delivery to it. `pending`: waiting deliveries become due now, and keep their remaining attempts.",
     "minItems": 1,
     "maxItems": 5,
     "type": "array",
     "items": {
      "type": "string",
      "enum": [
       "failed",
       "canceled",
       "succeeded",
       "skipped",
       "pending"
      ]
     }
    },
    "event_type": {
     "description": "Only events of these types.",
     "minItems": 1,
     "maxItems": 50,
     "type": "array",
     "items": {
      "type": "string",
      "enum": [
       "consultation.completed",
       "consultation.failed",
       "batch.completed",
       "batch.failed",
       "batch.partial_failure",
       "webhook.test",
       "webhook.failing",
       "webhook.disabled",
       "webhook.recovered",
       "api_key.expiring",
       "api_key.expired",
       "replay.finished"
      ],
      "description": "The type of an event. `webhook.test` is sent by the test endpoint alone."
     }
    },
    "error": {
     "description": "Only deliveries whose `last_error` is one of these. Leaves skipped events out.",
     "minItems": 1,
     "maxItems": 50,
     "type": "array",
     "items": {
      "type": "string",
      "enum": [
       "timeout",
       "dns_failed",
       "connection_refused",
       "connection_reset",
       "tls_failed",
       "destination_blocked",
       "redirect",
       "http_error",
       "response_invalid",
       "secret_unavailable"
      ],
      "description": "Why an attempt did not succeed."
     }
    },
    "status_code": {
     "description": "Only deliveries whose `last_status_code` is one of these. Leaves skipped events out.",
     "minItems": 1,
     "maxItems": 500,
     "type": "array",
     "items": {
      "type": "integer",
      "minimum": 100,
      "maximum": 599
     }
    },
    "rate_per_second": {
     "type": [
      "integer",
      "null"
     ],
     "minimum": 1,
     "maximum": 1000,
     "default": null,
     "description": "Spreads the first attempts: at most this many become due in a second. Pending deliveries keep an earlier due time. Null: all are due at once."
    }
   },
   "required": [
    "id",
    "since"
   ],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string"
    },
    "object": {
     "type": "string"
    },
    "webhook_id": {
     "type": "string"
    },
    "state": {
     "type": "string"
    },
    "matched": {
     "type": "integer"
    },
    "has_more": {
     "type": "boolean"
    },
    "pending": {
     "type": "integer"
    },
    "succeeded": {
     "type": "integer"
    },
    "failed": {
     "type": "integer"
    },
    "canceled": {
     "type": "integer"
    },
    "rate_per_second": {
     "type": [
      "integer",
      "null"
     ]
    },
    "created_at": {
     "type": "string"
    },
    "completed_at": {
     "type": [
      "string",
      "null"
     ]
    }
   }
  }
 },
 {
  "name": "replay_cancel",
  "description": "Cancel a replay. Deliveries that wait become `canceled` with `canceled_reason: \"replay_canceled\"`. A delivery that was `succeeded` before the replay is `succeeded` again. A delivery that was `pending` stays so; unless the replay has tried it, it is due as before. A running attempt ends. A replay that has ended stays as it is.",
  "isWriting": true,
  "method": "POST",
  "path": "/v1/webhooks/replays/{id}/cancel",
  "given": {},
  "input": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string",
     "pattern": "^rpl_[0-7][0-9a-hjkmnp-tv-z]{25}$"
    }
   },
   "required": [
    "id"
   ],
   "additionalProperties": false
  },
  "output": {
   "type": "object",
   "properties": {
    "id": {
     "type": "string"
    },
    "object": {
     "type": "string"
    },
    "webhook_id": {
     "type": "string"
    },
    "state": {
     "type": "string"
    },
    "matched": {
     "type": "integer"
    },
    "has_more": {
     "type": "boolean"
    },
    "pending": {
     "type": "integer"
    },
    "succeeded": {
     "type": "integer"
    },
    "failed": {
     "type": "integer"
    },
    "canceled": {
     "type": "integer"
    },
    "rate_per_second": {
     "type": [
      "integer",
      "null"
     ]
    },
    "created_at": {
     "type": "string"
    },
    "completed_at": {
     "type": [
      "string",
      "null"
     ]
    }
   }
  }
 }
];
